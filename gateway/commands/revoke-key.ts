import { systemClock } from '../../subgraphs/clock.ts';
import type { RevocationOutcome } from '../../subgraphs/receipt/issuer/histories.ts';
import { type Compromise, revokeKey } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { findServices } from '../operations/find-services.ts';
import { givenWords, run } from '../operations/run.ts';
import { openOwnStore } from '../own-store.ts';

/*
 * `npm run revoke-key -- KID "REASON"`: revokes a signing key that has leaked, after a new key has replaced it. The revocation is
 * published, signed and permanent. Entries that the log had before verify; everything else that the key has signed does not.
 */
const USAGE = `usage: npm run revoke-key -- KID "REASON" [--since TIME]

Permanently revokes a signing key that may have leaked. KID is its ES256 thumbprint (see /.well-known/issuer-history.json). TIME is when
it may have leaked, in ISO 8601 with a time zone (default: now). Receipts that were in the log at TIME stay valid; everything else that
the key signed becomes invalid. REASON is published. Before that, put a new seed first in ISSUER_KEYS and restart every process: a key
that still signs cannot be revoked.

Example: npm run revoke-key -- 4KvP… "its backup was stolen" --since 2026-05-02T00:00:00Z`;

/** Maximum length of the reason, which is published with the key. */
const REASON_CHARACTERS_MAX = 200;

/** The revocation on the command line; null for --help. @throws UsageFault if the arguments are missing or wrong */
function revocationOptions(): Compromise | null {
  const options = { since: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { positionals, values } = givenWords({ allowPositionals: true, options });
  if (values.help) return null;
  const [kid, reason, ...more] = positionals;
  if (kid === undefined || !reason?.trim() || more.length > 0) throw new UsageFault();
  if (reason.length > REASON_CHARACTERS_MAX)
    throw new UsageFault(`the reason is longer than ${REASON_CHARACTERS_MAX} characters; shorten it`);
  return { kid, reason, since_ms: values.since === undefined ? null : sinceOf(values.since) };
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function sinceOf(text: string): number {
  const at_ms = ISO.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at_ms))
    throw new UsageFault(`--since ${text} is not an ISO 8601 time with a time zone, such as 2026-05-02T00:00:00Z`);
  if (at_ms > systemClock.now_ms())
    throw new UsageFault(`--since ${text} is in the future; omit it for the current time`);
  return at_ms;
}

const refusals: Readonly<Record<Exclude<RevocationOutcome['kind'], 'revoked'>, string>> = {
  unknown_key: 'no key in the issuer history has that thumbprint; see /.well-known/issuer-history.json',
  current_key: 'that key still signs; put a new seed first in ISSUER_KEYS, restart every process, then revoke it',
  already_revoked: 'that key is already revoked; its revocation is unchanged',
};

async function revoke(compromise: Compromise): Promise<void> {
  const services = await findServices(readConfig(), { announce: false });
  const { config } = services;
  const { database, log_origin } = await openOwnStore(config, console);
  const issuer = openIssuer(config.issuer_keys, { base_url: config.base_url, log_origin, now_ms: systemClock.now_ms });
  try {
    const result = await revokeKey(database, issuer, { data_dir: config.data_dir, ...compromise });
    if (result.kind !== 'revoked') throw new OperatorFault(refusals[result.kind]);
    const { kid, revoked_at, since, log } = result.revocation.document;
    console.log(`Revoked: ${kid}, at ${revoked_at}. It may have leaked since ${since}.`);
    console.log(
      `The ${log.tree_size} leaves that the log had by then stay valid; nothing else that the key signed does.`,
    );
    console.log(
      'Remove its seed from ISSUER_KEYS. A process that still signs with it stops accepting payments within two seconds.',
    );
  } finally {
    await database.close();
    await services.stop();
  }
}

await run(
  async () => {
    const compromise = revocationOptions();
    if (compromise === null) console.log(USAGE);
    else await revoke(compromise);
  },
  { usage: USAGE },
);
