import type pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../subgraphs/database.ts';
import { readCopies } from '../subgraphs/receipt/issuer/kept-copy.ts';
import { kidsOfSeeds } from '../subgraphs/receipt/issuer/signing-keys.ts';
import { kidOf } from '../subgraphs/receipt/issuer/snapshot.ts';
import {
  changedParts,
  type KnownService,
  keepMarks,
  knownService,
  originOf,
  type ServiceFacts,
  type ServicePart,
} from '../subgraphs/receipt/service-mark/same-service.ts';
import { openVault } from '../subgraphs/vault.ts';
import { ConfigFault } from './config/fault.ts';
import type { CompleteConfig, Config } from './config/read-config.ts';
import { everyFeature } from './features/every-feature.ts';
import type { Feature } from './features/feature.ts';
import { openStore } from './parts.ts';

/* Opens a database only for the service that it belongs to. This is checked before anything is written. */

interface OwnStore {
  readonly database: Database;
  /** Origin of the log; see `originOf`. */
  readonly log_origin: string;
}

type OwnConfig = Pick<Config, 'base_url' | 'data_dir' | 'database_url' | 'issuer_keys' | 'profile' | 'seal_key'>;

/** Opens the database of this service. @throws ConfigFault if the database belongs to another service */
export async function openOwnStore(
  config: OwnConfig & Partial<Pick<Config, 'database_connections_max'>>,
  logger: Pick<Logger, 'warn'>,
  features: readonly Feature[] = everyFeature,
): Promise<OwnStore> {
  const { database_url, database_connections_max: connections_max, profile } = config;
  const own = ownFacts(config);
  const before = async (client: pg.Client) => requireSameService(await knownService(client), own, profile);
  const database = await openStore(database_url, { features, before, ...(connections_max && { connections_max }) });
  try {
    const known = await database.transaction(async tx => {
      // If several processes start for the first time at once, one of them defines the service, and the others are compared with it.
      await tx.query('lock table service_mark in share row exclusive mode');
      const found = await knownService(tx);
      requireSameService(found, own, profile);
      if (found.log_origin === null) await keepMarks(tx, found, own);
      return found;
    });
    if (changedParts(known, own).length > 0) logger.warn(movedSentence(known, own));
    return { database, log_origin: originOf(known, own) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Facts of this process that identify its service. */
export function ownFacts({
  base_url,
  data_dir,
  issuer_keys,
  seal_key,
}: Pick<CompleteConfig, 'base_url' | 'data_dir' | 'issuer_keys' | 'seal_key'>): ServiceFacts {
  const { snapshots } = readCopies(data_dir);
  return {
    base_url,
    kids: kidsOfSeeds(issuer_keys),
    copied_kids: (snapshots ?? []).map(({ keys }) => kidOf(keys)),
    seal_mark: openVault(seal_key).mark('service', 'service mark'),
  };
}

/** Checks that the database belongs to the service with these facts. @throws ConfigFault if it does not */
function requireSameService(known: KnownService, own: ServiceFacts, profile: Config['profile']): void {
  const changed = changedParts(known, own);
  if (changed.length === 0 || maySimplyChange(changed, profile)) return;
  throw changedFault(changed, known, own);
}

/** Whether a change needs no confirmation. In development a service may change its BASE_URL, which contains its port. */
export function maySimplyChange(changed: readonly ServicePart[], profile: Config['profile']): boolean {
  return profile === 'development' && changed.every(part => part === 'BASE_URL');
}

/** Error that names all changes at once, and the one command that accepts them. */
export function changedFault(changed: readonly ServicePart[], known: KnownService, own: ServiceFacts): ConfigFault {
  const faults = changed.map(variable => ({ variable, problem: problems[variable](known, own) }));
  const command = `npm run accept-changed -- ${changed.join(' ')}`;
  const hint = `. Nothing was changed. If the change is intended, stop every process of this database and run ${command}`;
  return new ConfigFault(faults, { hint });
}

const problems: Readonly<Record<ServicePart, (known: KnownService, own: ServiceFacts) => string>> = {
  SEAL_KEY: () =>
    'this database was served with another SEAL_KEY; stored answers, webhook secrets and router keys cannot be decrypted with this one',
  ISSUER_KEYS: ({ kids }) =>
    `the key that signs for this database, ${kids.at(-1)}, is not among ISSUER_KEYS and would be retired; to replace it, put its seed after the new one`,
  BASE_URL: ({ base_url }, own) => `this database was served as ${base_url}, but BASE_URL is ${own.base_url}`,
};

function movedSentence(known: KnownService, own: ServiceFacts): string {
  return (
    `BASE_URL: this database was served as ${known.base_url} before and is served as ${own.base_url} now. Earlier receipts link to ` +
    `the former address, and the origin of the log remains ${originOf(known, own)}. If the service has moved ` +
    'permanently, run npm run accept-changed -- BASE_URL'
  );
}
