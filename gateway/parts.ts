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
import type { AddedResolvers, Subgraph, SubgraphAddition } from '../subgraphs/subgraph.ts';
import type { Vault } from '../subgraphs/vault.ts';
import { OperatorFault } from './config/fault.ts';
import type { SubgraphName } from './config/read-config.ts';
import { everyFeature } from './features/every-feature.ts';
import type { Feature } from './features/feature.ts';
import { databaseFault } from './operations/start-faults.ts';

/* Collects tables, schemas and paid operations from the four subgraphs. */

/** Parts that these features add to a subgraph. */
function addedTo(name: SubgraphName, features: readonly Feature[]): readonly SubgraphAddition[] {
  return features.flatMap(({ adds }) => adds[name] ?? []);
}

const own = {
  receipt: { entities: receiptEntities, migrations: receiptMigrations, build: receiptSubgraph },
  book: { entities: bookEntities, migrations: bookMigrations, build: bookSubgraph },
  session: { entities: sessionEntities, migrations: sessionMigrations, build: sessionSubgraph },
  board: { entities: boardEntities, migrations: boardMigrations, build: boardSubgraph },
} satisfies Readonly<Record<SubgraphName, OwnSubgraph>>;

interface OwnSubgraph extends Pick<SubgraphAddition, 'entities' | 'migrations'> {
  build(added: AddedResolvers): Promise<Subgraph>;
}

const names = Object.keys(own) as readonly SubgraphName[];

/** The tables of all subgraphs and of these features, and their migrations. */
export function tablesWith(features: readonly Feature[]): Pick<DatabaseOptions, 'entities' | 'migrations'> {
  const parts = names.flatMap((name): Pick<SubgraphAddition, 'entities' | 'migrations'>[] => [
    own[name],
    ...addedTo(name, features),
  ]);
  return {
    entities: parts.flatMap(({ entities }) => entities),
    migrations: parts.flatMap(({ migrations }) => migrations),
  };
}

interface StoreOptions {
  /** Features whose tables are included. Default: all. */
  readonly features?: readonly Feature[];
  readonly connections_max?: number;
  readonly before?: DatabaseOptions['before'];
}

/** Opens and migrates the one database of all subgraphs. @throws ConfigFault if it cannot be opened; and errors of `before` */
export async function openStore(
  url: string,
  { features = everyFeature, connections_max, before }: StoreOptions = {},
): Promise<Database> {
  const connections = connections_max ?? limits.database_connections_max_default;
  try {
    return await openDatabase({
      url,
      ...tablesWith(features),
      connections_max: connections,
      ...(before && { before }),
    });
  } catch (error) {
    throw error instanceof OperatorFault ? error : databaseFault(error, url);
  }
}

/** Builds one subgraph for this process. */
export function subgraphNamed(name: SubgraphName, features: readonly Feature[]): Promise<Subgraph> {
  return own[name].build(addedTo(name, features).flatMap(({ resolvers }) => resolvers));
}

/** The last build. It is reused, because gateways that are opened in one process have the same subgraphs, which depend on no gateway. */
let last_built: { readonly features: readonly Feature[]; readonly subgraphs: Promise<readonly Subgraph[]> } | null =
  null;

/** All subgraphs of the graph, for this process. */
export function subgraphs(features: readonly Feature[] = everyFeature): Promise<readonly Subgraph[]> {
  if (last_built?.features !== features)
    last_built = { features, subgraphs: Promise.all(names.map(name => subgraphNamed(name, features))) };
  return last_built.subgraphs;
}

/** All paid operations by field. */
export function openSales(parts: {
  readonly hubs: Hubs;
  readonly vault: Vault;
  readonly random: Random;
  readonly issuer: Pick<Issuer, 'signCanonical' | 'base_url'>;
}): ReadonlyMap<string, AnyPaid> {
  return new Map(
    [...receiptSold(parts), ...bookSold(parts), ...sessionSold(parts), ...boardSold()].map(paid => [paid.field, paid]),
  );
}
