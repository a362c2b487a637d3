import { limits } from '../schema/limits.ts';
import { boardEntities, boardMigrations, boardSold, boardSubgraph } from '../subgraphs/board/index.ts';
import { bookEntities, bookMigrations, bookSold, bookSubgraph } from '../subgraphs/book/index.ts';
import type { Random } from '../subgraphs/clock.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../subgraphs/database.ts';
import { receiptEntities, receiptMigrations, receiptSold, receiptSubgraph } from '../subgraphs/receipt/index.ts';
import type { Hubs } from '../subgraphs/receipt/inference/hubs/open.ts';
import type { Issuer } from '../subgraphs/receipt/issuer/signing-keys.ts';
import type { AnyPaid } from '../subgraphs/sale.ts';
import { sessionEntities, sessionMigrations, sessionSold, sessionSubgraph } from '../subgraphs/session/index.ts';
import type { Subgraph } from '../subgraphs/subgraph.ts';
import type { Vault } from '../subgraphs/vault.ts';
import { OperatorFault } from './config/fault.ts';
import type { SubgraphName } from './config/read-config.ts';
import { databaseFault } from './operations/database-fault.ts';

/* What the service is made of, collected from the four subgraphs: their tables, their schemas and what they sell. */

/** The tables of all subgraphs, and the steps that make them. */
export const tables = {
  entities: [...receiptEntities, ...bookEntities, ...sessionEntities, ...boardEntities],
  migrations: [...receiptMigrations, ...bookMigrations, ...sessionMigrations, ...boardMigrations],
};

interface StoreOptions {
  readonly connections_max?: number;
  readonly before?: DatabaseOptions['before'];
}

/** The one database of all subgraphs, brought up to date. @throws ConfigFault where it cannot be had; and what `before` throws. */
export async function openStore(url: string, { connections_max, before }: StoreOptions = {}): Promise<Database> {
  const connections = connections_max ?? limits.database_connections_max_default;
  try {
    return await openDatabase({ url, ...tables, connections_max: connections, ...(before && { before }) });
  } catch (error) {
    throw error instanceof OperatorFault ? error : databaseFault(error, url);
  }
}

/** Builds one, for this process. */
export const subgraphNamed: Readonly<Record<SubgraphName, () => Promise<Subgraph>>> = {
  receipt: receiptSubgraph,
  book: bookSubgraph,
  session: sessionSubgraph,
  board: boardSubgraph,
};

/** Every subgraph of the graph. */
export function subgraphs(): Promise<Subgraph[]> {
  return Promise.all(Object.values(subgraphNamed).map(build => build()));
}

/** Everything that is sold, by field. */
export function soldBy(parts: {
  readonly hubs: Hubs;
  readonly vault: Vault;
  readonly random: Random;
  readonly issuer: Pick<Issuer, 'signCanonical' | 'base_url'>;
}): ReadonlyMap<string, AnyPaid> {
  return new Map(
    [...receiptSold(parts), ...bookSold(parts), ...sessionSold(parts), ...boardSold()].map(paid => [paid.field, paid]),
  );
}
