import { rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { freshChain } from '../../chain.ts';
import { freshDatabase } from '../../database.ts';
import { startGateway } from '../../gateway.ts';
import { svmProcess } from '../../svm.ts';

/** A test that starts everything a file of the suite can start, and then never ends. */
it('waits to be killed', async () => {
  const [{ url }, chain, svm] = await Promise.all([freshDatabase(), freshChain(), svmProcess()]);
  const environment = { DATABASE_URL: url, BASE_RPC_URL: chain.rpc_url, SOLANA_RPC_URL: svm.rpc_url };
  const gateway = await startGateway({ environment });
  const started = join(tmpdir(), 'started.json');
  await writeFile(`${started}.new`, JSON.stringify({ pids: [process.pid, gateway.process.pid] }));
  await rename(`${started}.new`, started);
  await new Promise(() => {});
});
