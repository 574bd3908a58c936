import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { KernelLink } from "../../widgets/lab/static/kernel.js";

const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
};

/** A kernel that has the package, as the application shows it. */
function fakeKernel({ subshells = true } = {}) {
  const signal = () => {
    const listeners = new Set();
    return {
      connect: (listen) => listeners.add(listen),
      disconnect: (listen) => listeners.delete(listen),
      emit: (value) => listeners.forEach((listen) => listen(null, value)),
    };
  };
  const kernel = {
    status: "idle",
    isDisposed: false,
    supportsSubshells: subshells,
    info: Promise.resolve({ language_info: { name: "python" } }),
    iopubMessage: signal(),
    statusChanged: signal(),
    comms: [],
    requestExecute: () => ({
      msg: { header: { msg_id: "probe" } },
      done: Promise.resolve({
        content: { user_expressions: { answer: { status: "ok", data: { "text/plain": "'ready'" } } } },
      }),
    }),
    createComm() {
      const comm = { opened: false, closed: false, sent: [], isDisposed: false };
      comm.subshellStarted = new Promise((done) => (comm.startSubshell = done));
      comm.open = () => (comm.opened = true);
      comm.close = () => (comm.closed = true);
      comm.send = (content) => comm.sent.push(content);
      comm.tell = (data) => comm.onMsg({ content: { data } });
      kernel.comms.push(comm);
      return comm;
    },
  };
  return kernel;
}

test("a comm is opened on its subshell, and no call is sent before the kernel has it", async () => {
  const kernel = fakeKernel();
  const link = new KernelLink(kernel, () => {});
  await turns();
  const [comm] = kernel.comms;
  assert.equal(comm.opened, false);

  comm.startSubshell();
  await turns();
  assert.equal(comm.opened, true);
  assert.equal(link.answers, false);

  comm.tell({ event: "opened" });
  await turns();
  assert.equal(link.state, "ready");
  void link.call("read_indices").catch(() => {});
  assert.equal(comm.sent.length, 1);
  link.dispose();
});

for (const subshells of [true, false])
  test(`a kernel restarted while a comm opens is asked again; subshells: ${subshells}`, async () => {
    const kernel = fakeKernel({ subshells });
    const link = new KernelLink(kernel, () => {});
    await turns();

    kernel.statusChanged.emit("restarting");
    kernel.comms[0].startSubshell();
    await turns();
    kernel.statusChanged.emit("idle");
    await turns();

    assert.equal(kernel.comms.length, 2);
    assert.equal(kernel.comms[0].opened, !subshells);
    kernel.comms[1].startSubshell();
    await turns();
    kernel.comms[1].tell({ event: "opened" });
    await turns();
    assert.equal(link.state, "ready");
    link.dispose();
  });
