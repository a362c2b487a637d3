import { parseArgs } from 'node:util';
import { systemClock } from '../../subgraphs/clock.ts';
import type { Revoking } from '../../subgraphs/receipt/issuer/histories.ts';
import { type Compromise, revokeKey } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { OperatorFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { findServices } from '../operations/find-services.ts';
import { run } from '../operations/run.ts';
import { openOwnStore } from '../own-store.ts';

/*
 * `npm run revoke-key -- KID "REASON"`: what an operator does once others may hold a seed of ISSUER_KEYS, after a new one has taken
 * its place. It is published, signed and for good: what the log held before verifies, and nothing else that the key has signed.
 */
const USAGE = `usage: npm run revoke-key -- KID "REASON" [--since TIME]

Revokes a signing key that others may hold, for good. KID is its ES256 thumbprint (/.well-known/issuer-history.json), TIME (ISO 8601)
from when on they may hold it; without it, now. Receipts that stood in the log by then verify for ever, all others of that key
never again. First put a new seed first in ISSUER_KEYS and start every process anew: a key that still signs is not revoked.
npm run revoke-key -- 4KvP… "its backup was stolen" --since 2026-05-02T00:00:00Z`;

/** It is published wherever the key is. */
const REASON_CHARACTERS_MAX = 200;

/** Null where it was asked how the command is used. @throws OperatorFault where it is used otherwise */
function asked(): Compromise | null {
  const { positionals, values } = given();
  if (values.help) return null;
  const [kid, reason, ...more] = positionals;
  if (kid === undefined || !reason?.trim() || more.length > 0) throw new OperatorFault(USAGE);
  if (reason.length > REASON_CHARACTERS_MAX)
    throw new OperatorFault(`the reason has more than ${REASON_CHARACTERS_MAX} characters`);
  return { kid, reason, since_ms: values.since === undefined ? null : sinceOf(values.since) };
}

function given() {
  try {
    return parseArgs({ allowPositionals: true, options: { since: { type: 'string' }, help: { type: 'boolean' } } });
  } catch (fault) {
    throw new OperatorFault(`${fault instanceof Error ? fault.message : String(fault)}\n${USAGE}`);
  }
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function sinceOf(text: string): number {
  const at_ms = ISO.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at_ms)) throw new OperatorFault(`${text} is no time: give ISO 8601 with its zone`);
  if (at_ms > systemClock.now_ms()) throw new OperatorFault(`${text} is yet to come: leave --since out for now`);
  return at_ms;
}

const refusals: Readonly<Record<Exclude<Revoking['kind'], 'revoked'>, string>> = {
  unknown_key: 'no key of the issuer history has that thumbprint: see /.well-known/issuer-history.json',
  current_key: 'that key still signs: put a new seed first in ISSUER_KEYS, start every process anew, then revoke it',
  already_revoked: 'that key was revoked before: what was said of it stands',
};

async function revoke(compromise: Compromise): Promise<void> {
  const services = await findServices(readConfig(), { announce: false });
  const { config } = services;
  const { database, log_origin } = await openOwnStore(config, console);
  const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, log_origin, now_ms: systemClock.now_ms });
  try {
    const said = await revokeKey(database, issuer, { data_dir: config.data_dir, ...compromise });
    if (said.kind !== 'revoked') throw new OperatorFault(refusals[said.kind]);
    const { kid, revoked_at, since, log } = said.revocation.document;
    console.log(`Revoked: ${kid}, at ${revoked_at}. Others may have held it since ${since}.`);
    console.log(`The ${log.tree_size} leaves that the log held by then verify; nothing else that it has signed does.`);
    console.log(
      'Take its seed out of ISSUER_KEYS. A process that still signs by it takes no payments within two seconds.',
    );
  } finally {
    await database.close();
    await services.stop();
  }
}

await run(async () => {
  const compromise = asked();
  if (compromise === null) console.log(USAGE);
  else await revoke(compromise);
});
