import { Agent, setGlobalDispatcher } from 'undici';

/** Of 127.0.0.0/8, which is all this machine's on Linux; from 127.1.0.0 on, so that nobody meets the service's own. */
let used = 0;

/**
 * Has whoever asks by `fetch` from now on come from a loopback address that nobody had before in this worker: the service
 * counts by address, and one file is not to be refused for what another has done.
 */
export function takeOwnAddress(): void {
  if (process.platform !== 'linux') return;
  used++;
  const localAddress = `127.1.${used >> 8}.${used & 255}`;
  setGlobalDispatcher(new Agent({ connect: { localAddress } }));
}
