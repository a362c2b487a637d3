import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../gateway/development/port.ts';
import { serveTasks } from '../child/answer.ts';

export interface PortkeyReady {
  readonly url: string;
}

/** @portkey-ai/gateway with its default settings. It takes its port from the command line and the hub from each request. */
const port = await freePort();
process.argv.push(`--port=${port}`, '--headless');
// It refuses hubs on loopback addresses that are not listed here.
process.env.TRUSTED_CUSTOM_HOSTS = '127.0.0.1';
await import('@portkey-ai/gateway/build/start-server.js');
while (!(await listens(port))) await sleep(50);
const ready: PortkeyReady = { url: `http://127.0.0.1:${port}` };
serveTasks(ready, {}, () => {});

async function listens(at: number): Promise<boolean> {
  const socket = connect(at, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
