import { systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { anybodyStillServes } from '../../subgraphs/receipt/claim/lease.ts';
import { recordIssuer } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import {
  acceptMarks,
  changedParts,
  keepMarks,
  knownService,
  originOf,
  type ServicePart,
} from '../../subgraphs/receipt/service-mark/same-service.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { type Config, readConfig } from '../config/read-config.ts';
import { findServices } from '../operations/find-services.ts';
import { run } from '../operations/run.ts';
import { changedFault, maySimplyChange, ownFacts } from '../own-store.ts';
import { openStore } from '../parts.ts';
import { epochChainOf } from '../rails/base/chain-identity.ts';
import { openBase } from '../rails/base/open-base.ts';
import { openEpoch } from '../rails/epoch.ts';
import { solanaEpochOf } from '../rails/solana/open-solana.ts';
import { openSvmChain } from '../rails/solana/open-svm-chain.ts';

/*
 * `npm run accept-changed -- NAME…`: an operator confirms a changed setting that made a start fail: a sealing key, issuer seeds
 * without the former one, an address or a chain.
 */
const USAGE = `usage: npm run accept-changed -- NAME...

Accepts the current value of a variable that a start has refused because this database was used with another value before. NAME is
the variable that the start named. Stop every process that uses the database first.

  SEAL_KEY        stored answers, webhook secrets and router keys that the former key encrypted are lost
  ISSUER_KEYS     the former signing key is retired
  BASE_URL        receipts name the new address from now on; the log keeps its origin
  BASE_RPC_URL    open payments on the former chain are closed, and its receipts are marked
  SOLANA_RPC_URL  the same for Solana`;

type AcceptChange = (database: Database, config: Config) => Promise<string>;

const chains: Readonly<Record<string, AcceptChange>> = {
  async BASE_RPC_URL(database, { base_rpc_url, profile }) {
    const chain = openBase({ rpc_url: base_rpc_url });
    const epoch = await openEpoch(database, epochChainOf(chain), { profile, accepted: true }).finally(chain.close);
    return `BASE_RPC_URL: accepted. This database now uses that chain (epoch ${epoch}).`;
  },
  async SOLANA_RPC_URL(database, { solana, profile }) {
    if (solana === null)
      throw new OperatorFault(
        'SOLANA_RPC_URL: this configuration does not offer payments on Solana, so there is no chain to accept; set SOLANA_RPC_URL, PAY_TO_SOLANA and, without a facilitator, SOLANA_FEE_PAYER_KEY, or repeat the command without the name SOLANA_RPC_URL',
      );
    const chain = openSvmChain(solana);
    const epoch = await openEpoch(database, solanaEpochOf(chain), { profile, accepted: true }).finally(chain.close);
    return `SOLANA_RPC_URL: accepted. This database now uses that chain (epoch ${epoch}).`;
  },
};
const parts: readonly ServicePart[] = ['SEAL_KEY', 'ISSUER_KEYS', 'BASE_URL'];
const isPart = (name: string): name is ServicePart => parts.some(part => part === name);

const names = process.argv.slice(2);
if (names.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}

/** Accepts only the named variables, because another changed one may be a mistake. */
async function acceptParts(database: Database, config: Config, named: readonly ServicePart[]): Promise<string[]> {
  const own = ownFacts(config);
  const { known, changed } = await database.transaction(async tx => {
    await tx.query('lock table service_mark in share row exclusive mode');
    const known = await knownService(tx);
    const changed = changedParts(known, own);
    await keepMarks(tx, known, own);
    await acceptMarks(
      tx,
      changed.filter(part => named.includes(part)),
      own,
    );
    return { known, changed };
  });
  if (named.includes('ISSUER_KEYS') && changed.includes('ISSUER_KEYS')) {
    const { base_url, data_dir } = config;
    const signer = openIssuer(config.issuer_keys, {
      base_url,
      log_origin: originOf(known, own),
      now_ms: systemClock.now_ms,
    });
    await recordIssuer(database, signer, { data_dir, onFailure: () => {}, accepted: true });
  }
  return named.map(part =>
    changed.includes(part) ? `${part}: accepted.` : `${part}: not changed, so there was nothing to accept.`,
  );
}

async function accept(config: Config): Promise<void> {
  const named = names.filter(isPart);
  const database = await openStore(config.database_url, {
    async before(client) {
      const known = await knownService(client);
      const own = ownFacts(config);
      const others = changedParts(known, own).filter(part => !named.includes(part));
      if (others.length > 0 && !maySimplyChange(others, config.profile)) throw changedFault(others, known, own);
    },
  });
  try {
    if (await anybodyStillServes(database))
      throw new OperatorFault(
        'A process still uses this database. Stop all of its processes first. Nothing was changed.',
      );
    for (const line of await acceptParts(database, config, named)) console.log(line);
    for (const name of names) {
      const acceptChain = chains[name];
      if (acceptChain) console.log(await acceptChain(database, config));
    }
  } finally {
    await database.close();
  }
}

await run(
  async () => {
    if (names.length === 0 || names.some(name => !isPart(name) && !Object.hasOwn(chains, name))) throw new UsageFault();
    const services = await findServices(readConfig(), { announce: false });
    try {
      await accept(services.config);
    } finally {
      await services.stop();
    }
  },
  { usage: USAGE },
);
