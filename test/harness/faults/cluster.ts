import { join } from 'node:path';
import { findPostmaster } from '../../../gateway/development/postgres/postmaster.ts';
import { startPostgres } from '../../../gateway/development/postgres/start.ts';
import { endProcess } from '../../../gateway/development/spawn-detached.ts';
import { administer } from '../global.ts';
import { atEnd } from '../release.ts';
import { clearScratch, makeScratch } from '../scratch.ts';

/** A Postgres cluster that only this test uses, because it is stopped, started and made read-only. */
export async function startCluster() {
  const home = await makeScratch();
  atEnd(() => clearScratch(home));
  const { url, folder } = await startPostgres(home);
  return {
    /** URL of the cluster. It stays the same after a stop. */
    url,
    /**
     * Stops the server as `pg_ctl stop -m immediate` does: without a message to clients and without a checkpoint. What was committed is in
     * the WAL.
     */
    async stopAtOnce(): Promise<void> {
      const postmaster = await findPostmaster(join(folder, 'cluster'));
      if (!postmaster) throw new Error('no server runs');
      await endProcess(postmaster.mark, ['SIGQUIT']);
    },
    async start(): Promise<void> {
      await startPostgres(home);
    },
    /** Makes the server read-only, like a standby or a demoted primary. This also affects later transactions of open connections. */
    async readOnly(on: boolean): Promise<void> {
      await administer(url, `alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`);
      await administer(url, 'select pg_reload_conf()');
    },
  };
}
