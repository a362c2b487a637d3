import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { atEnd } from './release.ts';

/**
 * Number of files of this worker that have had an address. On Linux all of 127.0.0.0/8 is this machine; these addresses begin at 127.1.0.1.
 */
let used = 0;

/**
 * Makes `fetch` connect from a loopback address that no earlier file of this worker used, until the file ends. The service counts requests
 * by address, so one file could otherwise be refused because of another. On systems other than Linux all files share one address.
 */
export function takeOwnAddress(): void {
  if (process.platform !== 'linux') return;
  used++;
  const before = getGlobalDispatcher();
  const agent = new Agent({ connect: { localAddress: `127.1.${used >> 8}.${used & 255}` } });
  setGlobalDispatcher(agent);
  atEnd(() => {
    setGlobalDispatcher(before);
    // Closes after the open requests have ended, because the service in this worker also calls its chain by `fetch`.
    void agent.close().catch(() => {});
  });
}
