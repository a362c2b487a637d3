import { join } from 'node:path';
import { findPostmaster } from '../../../gateway/development/postgres/postmaster.ts';
import { startPostgres } from '../../../gateway/development/postgres/start.ts';
import { endProcess } from '../../../gateway/development/spawn-detached.ts';
import { administer } from '../global.ts';
import { atEnd } from '../release.ts';
import { clearScratch, makeScratch } from '../scratch.ts';

/** A Postgres of the test's own, for what no other test may feel: stopped, started, turned read-only. */
export async function startCluster() {
  const home = await makeScratch();
  atEnd(() => clearScratch(home));
  const { url, folder } = await startPostgres(home);
  return {
    /** The same before and after a stop. */
    url,
    /** As `pg_ctl stop -m immediate` does: no goodbye, no checkpoint; what was committed is in the WAL. */
    async stopAtOnce(): Promise<void> {
      const postmaster = await findPostmaster(join(folder, 'cluster'));
      if (!postmaster) throw new Error('no server runs');
      await endProcess(postmaster.mark, ['SIGQUIT']);
    },
    async start(): Promise<void> {
      await startPostgres(home);
    },
    /** As a standby is, or a primary that was demoted; also for the transactions of connections that are open. */
    async readOnly(on: boolean): Promise<void> {
      await administer(url, `alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`);
      await administer(url, 'select pg_reload_conf()');
    },
  };
}
