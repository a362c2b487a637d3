import { openStore } from '../../../gateway/parts.ts';
import { anchoringProcess } from './ground.ts';

/* Anchors once in a separate process, which kills itself when it reaches the point `at`. */
const [rpc_url = '', database_url = '', seed = '', at = ''] = process.argv.slice(2);
const store = await openStore(database_url);
const faults = async (point: string) => {
  if (point === at) process.kill(process.pid, 'SIGKILL');
};
await anchoringProcess(rpc_url, store, seed, { faults }).settle();
