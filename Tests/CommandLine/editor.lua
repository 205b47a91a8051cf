-- SPDX-License-Identifier: Apache-2.0
-- Run by neovim with a policy open: asks the language server all that it answers, by the client that
-- is built into the editor, and prints what comes.
local function say(text) io.stdout:write(text .. "\n") end

local function main()
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({
    name = "keychainctl",
    cmd = { "keychainctl", "policy", "lsp" },
    root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(buffer, id)
  local client = vim.lsp.get_client_by_id(id)
  assert(vim.wait(30000, function() return client.initialized end), "no server")

  local function diagnostics()
    local found = {}
    for _, one in ipairs(vim.diagnostic.get(buffer)) do
      table.insert(found, string.format("%d:%d-%d %s %s", one.lnum + 1, one.col + 1, one.end_col + 1,
        one.code or one.user_data.lsp.code, vim.split(one.message, "\n")[1]))
    end
    table.sort(found)
    return found
  end

  local function show_diagnostics(count)
    vim.wait(30000, function() return #diagnostics() == count end)
    for _, line in ipairs(diagnostics()) do say("diagnostic: " .. line) end
  end

  -- Puts the cursor on the text's first letter, or behind it.
  local function go(text, behind)
    for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
      local place, last = line:find(text, 1, true)
      if place then
        vim.api.nvim_win_set_cursor(0, { number, behind and last or place - 1 })
        return
      end
    end
    error("no " .. text)
  end

  local function ask(method, more)
    local parameters = vim.lsp.util.make_position_params(0, client.offset_encoding)
    for key, value in pairs(more or {}) do parameters[key] = value end
    local answer = client.request_sync(method, parameters, 30000, buffer)
    assert(answer and not answer.err, vim.inspect(answer))
    return answer.result
  end

  show_diagnostics(1)

  go("unt", true)
  local labels = {}
  for _, item in ipairs(ask("textDocument/completion")) do table.insert(labels, item.label) end
  say("completion: " .. table.concat(labels, " "))

  go("read-attributes")
  say("hover: " .. ask("textDocument/hover").contents.value)

  go("ops,")
  local place = ask("textDocument/definition")
  say("definition: " .. vim.fn.fnamemodify(vim.uri_to_fname(place.uri), ":t") .. ":"
    .. place.range.start.line + 1 .. ":" .. place.range.start.character + 1)

  -- The fix that is offered.
  local first = vim.diagnostic.get(buffer)[1]
  vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
  local parameters = vim.lsp.util.make_range_params(0, client.offset_encoding)
  parameters.context = { diagnostics = { {
    range = { start = { line = first.lnum, character = first.col },
      ["end"] = { line = first.end_lnum, character = first.end_col } },
    message = first.message,
    data = first.user_data.lsp.data,
  } } }
  local fixes = client.request_sync("textDocument/codeAction", parameters, 30000, buffer).result
  say("fix: " .. fixes[1].title)
  vim.lsp.util.apply_workspace_edit(fixes[1].edit, client.offset_encoding)
  vim.wait(30000, function()
    for _, line in ipairs(diagnostics()) do
      if line:find("KC2003", 1, true) then return false end
    end
    return #diagnostics() > 0
  end)
  for _, line in ipairs(diagnostics()) do say("diagnostic: " .. line) end

  -- A group is renamed in both files.
  go("group: deploy", true)
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_win_get_cursor(0)[1],
    vim.api.nvim_win_get_cursor(0)[2] - 1 })
  vim.lsp.util.apply_workspace_edit(
    ask("textDocument/rename", { newName = "tokens" }), client.offset_encoding)
  vim.cmd("silent wall")

  client.stop()
  assert(vim.wait(30000, function() return client.is_stopped() end), "the server goes on")
end

local fine, mistake = pcall(main)
if not fine then say("failed: " .. tostring(mistake)) end
vim.cmd("qall!")
