import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { atEnd } from './release.ts';

/** How many files of this worker have had an address. All of 127.0.0.0/8 is this machine's on Linux; these begin at 127.1.0.1. */
let used = 0;

/**
 * Has `fetch` come from a loopback address that no file before had in this worker, until the file ends: the service counts
 * by address, and no file is to be refused for what another has done. Elsewhere than on Linux all share one address.
 */
export function takeOwnAddress(): void {
  if (process.platform !== 'linux') return;
  used++;
  const before = getGlobalDispatcher();
  const agent = new Agent({ connect: { localAddress: `127.1.${used >> 8}.${used & 255}` } });
  setGlobalDispatcher(agent);
  atEnd(() => {
    setGlobalDispatcher(before);
    // What is under way on it comes to its end: the service in this worker asks its chain by `fetch`, too.
    void agent.close().catch(() => {});
  });
}
