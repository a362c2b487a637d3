import { boardEntities, boardMigrations } from '../subgraphs/board/index.ts';
import { bookEntities, bookMigrations } from '../subgraphs/book/index.ts';
import { type Database, openDatabase } from '../subgraphs/database.ts';
import { receiptEntities, receiptMigrations } from '../subgraphs/receipt/index.ts';
import { sessionEntities, sessionMigrations } from '../subgraphs/session/index.ts';
import { databaseFault } from './operations/database-fault.ts';

const CONNECTIONS_MAX = 16;

/** The one database of all subgraphs, brought up to date. @throws ConfigFault where it cannot be had. */
export async function openStore(url: string): Promise<Database> {
  try {
    return await openDatabase({
      url,
      entities: [...receiptEntities, ...bookEntities, ...sessionEntities, ...boardEntities],
      migrations: [...receiptMigrations, ...bookMigrations, ...sessionMigrations, ...boardMigrations],
      connections_max: CONNECTIONS_MAX,
    });
  } catch (error) {
    throw databaseFault(error, url);
  }
}
