// A wire between the client and a real server that can be cut and mended.

import net from 'node:net';

/** @param {string} target the address of the server */
export async function wire(target) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  let isCut = false;
  const server = net.createServer((near) => {
    if (isCut) return near.destroy();
    const far = net.connect(Number(port), hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => { sockets.delete(from); to.destroy(); });
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(undefined)); });
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${/** @type {net.AddressInfo} */ (server.address()).port}`,
    cut,
    mend: () => { isCut = false; },
    close: () => { cut(); server.close(); },
  };
}
