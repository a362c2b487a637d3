import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../gateway/development/postgres/start.ts';
import { bookEntities, bookMigrations } from '../../subgraphs/book/index.ts';
import { type Database, openDatabase } from '../../subgraphs/database.ts';
import { sessionEntities, sessionMigrations } from '../../subgraphs/session/index.ts';

export async function sessionDatabase(): Promise<Database & AsyncDisposable> {
  const data_dir = await mkdtemp(join(tmpdir(), 'svc-session-'));
  const postgres = await startPostgres(data_dir);
  const database = await openDatabase({
    url: postgres.url,
    entities: [...bookEntities, ...sessionEntities],
    migrations: [...bookMigrations, ...sessionMigrations],
    connections_max: 20,
  });
  return Object.assign(database, {
    async [Symbol.asyncDispose]() {
      await database.close();
      await postgres.stop();
      for (const folder of [postgres.folder, data_dir]) await rm(folder, { recursive: true, force: true });
    },
  });
}
