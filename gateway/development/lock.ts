import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 20;

/**
 * Runs `work` under a lock by name, for all processes of this machine. The lock is a listening socket, so the kernel releases it
 * when its owner ends, even by SIGKILL. A lock file would remain, and whether its owner still runs could only be guessed. @throws
 * after `timeout_ms`
 */
export async function withLock<T>(name: string, work: () => Promise<T>, timeout_ms = 60_000): Promise<T> {
  const socket = await acquire(name, Date.now() + timeout_ms);
  try {
    return await work();
  } finally {
    await new Promise(resolve => socket.close(resolve));
  }
}

async function acquire(name: string, deadline_ms: number): Promise<Server> {
  for (;;) {
    const socket = await listen(name);
    if (socket) return socket;
    if (Date.now() > deadline_ms) throw new Error(`another process holds the lock "${name}"`);
    await sleep(RETRY_MS);
  }
}

function listen(name: string): Promise<Server | null> {
  const digest = createHash('sha256')
    .update(`svc:${process.getuid?.() ?? ''}:${name}`)
    .digest();
  return new Promise((resolve, reject) => {
    const server = createServer(connection => connection.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.once('listening', () => resolve(server));
    // Linux has abstract sockets without files. On other systems the name is mapped to a loopback port.
    if (process.platform === 'linux') server.listen(`\0svc-${digest.toString('hex')}`);
    else server.listen({ host: '127.0.0.1', port: 49_152 + (digest.readUInt16BE() % 16_000), exclusive: true });
  });
}
