import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import {
  type InflowClaimVerification,
  isInflowClaim,
  verifyInflowClaim,
} from '../../subgraphs/receipt/verify/inflow-claim.ts';
import {
  isPullExport,
  type PullExportVerification,
  verifyPullExport,
} from '../../subgraphs/receipt/verify/pull-export.ts';
import { type Verification, verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { isRefusal, type RefusalVerification, verifyRefusal } from '../../subgraphs/receipt/verify/refusal.ts';
import { type Report } from '../../subgraphs/receipt/verify/report.ts';
import { OperatorFault } from '../config/fault.ts';
import { run } from '../operations/run.ts';

/*
 * `npm run verify -- FILE|URL`: verifies a receipt, a refusal, a published export or an inflow's claim, asking the service for
 * it and for its key set and nothing else.
 */

const USAGE = `usage: npm run verify -- FILE|URL [--jwks FILE|URL]

Verifies a receipt (or an answer that carries one as "svc"), a signed refusal, a published export or the claim of an inflow
(or its row). Without --jwks the key set is fetched from whom the document itself names; give --jwks to trust nobody but that
file.`;

const FETCH_TIMEOUT_MS = 10_000;
/** A published export has up to 200 rows, each with what callers wrote on it. */
const FETCH_BYTES_MAX = 8 * 1024 * 1024;

const isUrl = (source: string) => /^https?:\/\//.test(source);

/** @throws OperatorFault where the source cannot be read or holds no JSON object. */
async function readJson(source: string): Promise<JsonObject> {
  const text = isUrl(source) ? await fetchText(source) : await readFile(source, 'utf8').catch(unreadable(source));
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // It is said below.
  }
  throw new OperatorFault(
    `${source} holds no JSON object: give a receipt, a refusal, a published export, or an answer that carries one`,
  );
}

function unreadable(file: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new OperatorFault(`${file}: ${why}; give a file, or a URL that begins with http:// or https://`);
  };
}

async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  }).catch(({ name, cause }: Error) => {
    const why = cause instanceof Error ? ('code' in cause ? cause.code : cause.message) : name;
    throw new OperatorFault(`${url} does not answer (${why}); check the address, and whether the service runs`);
  });
  if (!answer.ok || !answer.body) throw new OperatorFault(`${url} answered ${answer.status}, and shows no document`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength;
    if (bytes > FETCH_BYTES_MAX) throw new OperatorFault(`${url} sends more than ${FETCH_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function jwksUri(document: JsonObject): string {
  const uri = isJsonObject(document.verification) ? document.verification.jwks_uri : document.verify_jwks;
  if (typeof uri !== 'string' || !isUrl(uri))
    throw new OperatorFault('the document names no key set: give one with --jwks');
  return uri;
}

function printChecks(verification: AnyVerification, what: string): void {
  for (const { sentence } of verification.checks) console.log(`  ok    ${sentence}`);
  if (verification.kind === 'valid') return;
  console.log(`  FAIL  ${verification.sentence} (${verification.code})`);
  console.log(`This ${what} is NOT valid.`);
}

/** What a valid document leaves open. The key set was checked by nobody, unless it was given. */
function printReport({ unsigned, broken, unchecked }: Report, keys_given: boolean): void {
  for (const name of broken) console.log(`  WARN  ${name} does not verify; another signature does, and one is enough.`);
  if (unsigned.unknown.length > 0)
    console.log(`  WARN  Nobody signed ${unsigned.unknown.join(', ')}: no part of such a document.`);
  if (unsigned.lane.length > 0)
    console.log(`  note  Nobody signed ${unsigned.lane.join(', ')}: it is what stands beside, and may change.`);
  for (const sentence of unchecked) console.log(`  open  ${sentence}`);
  if (!keys_given) console.log("  open  Whether the keys are the issuer's: the document itself named them.");
}

type AnyVerification = Verification | RefusalVerification | PullExportVerification | InflowClaimVerification;

function printReceipt(verification: Verification, keys_given: boolean): void {
  printChecks(verification, 'receipt');
  if (verification.kind === 'invalid') return;
  printReport(verification.report, keys_given);
  const { claims, claim_id } = verification;
  console.log(`Valid: task ${String(claims.jti)}, signed by ${String(claims.iss)}, book ${claim_id}.`);
  if (claims.profile !== undefined) console.log(`Made in the ${String(claims.profile)} profile: no real money moved.`);
  if (claims.waived_by !== undefined)
    console.log(`Nothing was paid: a key stood in for the payment (${String(claims.waived_by)}). It is not spend.`);
  else console.log('The signature does not prove that USDC moved: look up payment_ref on its network.');
}

function printRefusal(verification: RefusalVerification, keys_given: boolean): void {
  printChecks(verification, 'refusal');
  if (verification.kind === 'invalid') return;
  printReport(verification.report, keys_given);
  const { jti, iss, agent_id, policy_blocked_seq, policy_code } = verification.claims;
  console.log(`Valid: ${jti}, signed by ${iss}: ${policy_code}, row ${policy_blocked_seq} of book ${agent_id}.`);
  console.log('Nothing was charged. It is no receipt, and not spend.');
}

function printExport(verification: PullExportVerification, keys_given: boolean): void {
  printChecks(verification, 'export');
  if (verification.kind === 'invalid') return;
  printReport(verification.report, keys_given);
  const { slug, iss, agent_id, exported_at, specimen } = verification.claims;
  console.log(`Valid: export ${slug} of book ${agent_id}, as it stood at ${exported_at}, signed by ${iss}.`);
  if (specimen === true) console.log('A specimen: made in the development profile, where no real money moves.');
}

function printInflow(verification: InflowClaimVerification, keys_given: boolean): void {
  printChecks(verification, 'claim');
  if (verification.kind === 'invalid') return;
  printReport(verification.report, keys_given);
  const { task_id, iss, agent_id, bucket, allocation, corrects } = verification.claims;
  const what = corrects === undefined ? '' : `, in place of ${corrects}`;
  console.log(`Valid: ${task_id}${what}, signed by ${iss}: ${allocation} to ${bucket}, on book ${agent_id}.`);
  console.log('A claim, not a payment: it is neither money that moved nor spend.');
}

/** What can be verified besides a receipt, and how each kind is told. */
const kinds = [
  { name: 'Refusal', is: isRefusal, verify: printed(verifyRefusal, printRefusal) },
  { name: 'Export', is: isPullExport, verify: printed(verifyPullExport, printExport) },
  { name: 'Inflow', is: isInflowClaim, verify: printed(verifyInflowClaim, printInflow) },
] as const;
const receipt = { name: 'Receipt', verify: printed(verifyReceipt, printReceipt) } as const;

/** Verifies, prints what was found, and says whether it is valid. */
function printed<V extends AnyVerification>(
  verify: (document: JsonObject, jwks: JsonObject, options: { base_url?: string }) => V,
  print: (verification: V, keys_given: boolean) => void,
) {
  return (document: JsonObject, jwks: JsonObject, options: { base_url?: string }, keys_given: boolean): boolean => {
    const verification = verify(document, jwks, options);
    print(verification, keys_given);
    return verification.kind === 'valid';
  };
}

function given() {
  try {
    return parseArgs({ allowPositionals: true, options: { jwks: { type: 'string' }, help: { type: 'boolean' } } });
  } catch (fault) {
    throw new OperatorFault(fault instanceof Error ? fault.message : String(fault));
  }
}

async function main(): Promise<number> {
  const { positionals, values } = given();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    console.error(USAGE);
    return 2;
  }
  const read = await readJson(source);
  const document = [read.svc, read.inflow_claim].find(isJsonObject) ?? read;
  const keys = values.jwks ?? jwksUri(document);
  const kind = kinds.find(({ is }) => is(document)) ?? receipt;
  console.log(`${`${kind.name}:`.padEnd(8)} ${source}\nKeys:    ${keys}`);
  const options = isUrl(source) ? { base_url: new URL(source).origin } : {};
  const jwks = await readJson(keys);
  return kind.verify(document, jwks, options, values.jwks !== undefined) ? 0 : 1;
}

await run(async () => {
  process.exitCode = await main().catch(fault => {
    // Whatever a document does to its verifier, its reader has no use for our stack.
    throw fault instanceof Error ? new OperatorFault(fault.message, { cause: fault }) : fault;
  });
});
