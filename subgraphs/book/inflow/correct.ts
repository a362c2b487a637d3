import {
  canonicalHash,
  canonicalJson,
  isJsonObject,
  type JsonObject,
  present,
} from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type CorrectionRequest, SignedCorrectionRequest } from '../../../schema/requests/inflow.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import type { Database, Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import type { BookContext } from '../context.ts';
import { supersede } from '../ledger/supersede.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { mergedBranches, mergeOf, requireBranches } from './merge.ts';
import { appendInflow, inflowFacts } from './record.ts';
import { signedInflow } from './sign.ts';
import { requireWalletClaim, taskOfClaim, type WalletClaim } from './wallet-claim.ts';

/** Members of an inflow or a correction from which the next correction takes its values. They never change. */
interface InflowRow {
  readonly seq: number;
  /** Seq of the inflow at the start of the chain of corrections. */
  readonly original_seq: number;
  readonly bucket: string;
  /** Allocated amount in atomic USDC, as decimal digits. */
  readonly allocation: string;
  readonly model?: string;
  readonly hub?: string;
}

/** Seqs of the inflow and of the correction. */
interface CorrectionResult {
  readonly original_seq: number;
  readonly seq: number;
  /** True if the correction existed before and no row was appended. */
  readonly again: boolean;
}

/**
 * Appends a correction to the inflow or the earlier correction that it names. No row is changed or preferred: a second correction
 * of the same row is also appended, and makes a fork. Repeating a correction returns the existing one, so that a client can retry.
 * Members that are left out keep their values. A merge names the branches of a fork. Each branch gets one more successor, and the
 * fork stays.
 * @throws inflow_not_found, inflow_claim_invalid, invalid_request, duplicate_task, rate_limited, book_damaged
 */
export async function correctInflow(
  request: CorrectionRequest,
  agent_id: AgentId,
  context: BookContext,
): Promise<CorrectionResult> {
  const { task_id: corrects, reason } = request;
  const signed = signedCorrectionOf(request);
  const before = await inflowRow(context.database, agent_id, corrects);
  if (before === null) throw new Refusal('inflow_not_found', { param: 'task_id' });
  requireSameMerges(request.merges, signed);
  const named = signed?.merges ?? request.merges;
  const merge = named ? await mergeOf(context.database, agent_id, { task_id: corrects, merges: named }) : null;
  const branches = merge ? mergedBranches(merge) : [];
  const merges = merge ? branches.map(branch => branch.task_id) : undefined;
  const said = { task_id: corrects, reason, bucket: request.bucket, allocation: request.allocation, merges };
  const shown = signed && { kind: 'correction' as const, claim: signed, param: 'correction' as const, said };
  const wallet_word = shown ? await requireWalletClaim(shown, agent_id, context) : null;
  const task_id = signed ? taskOfClaim('correction', signed) : newTask(context);
  const { bucket, allocation } = currentValues(before, signed ?? request);
  const correction = signed ? undefined : request.correction;
  const claimed = { agent_id, task_id, bucket, allocation, corrects, reason, correction, merges, wallet_word };
  const inflow_claim = signedInflow(context, { ...claimed, model: before.model, hub: before.hub });
  const birth = inflowFacts(
    { ...before, task_id },
    { bucket, allocation, corrects, reason, inflow_claim, ...present({ merges }) },
  );
  const { original_seq, seq: corrects_seq } = before;
  const wallet_claim = signed && withoutSignature(signed);
  const said_now = { reason, bucket, allocation, correction: correction ?? null, wallet_claim, ...present({ merges }) };
  const naming: CorrectionName = { agent_id, corrects_seq, said: said_now };
  const write = async (tx: Tx) => {
    const same = await sameCorrection(tx, naming);
    if (same) return { seq: same.seq, original_seq, again: true };
    // The branches are checked only here, because a retry of this merge must not fail although its branches have a successor by then.
    if (merge) requireBranches(merge);
    const { seq } = await appendInflow(tx, agent_id, birth);
    const merged_seqs = branches.map(branch => branch.seq);
    supersede(tx, { agent_id, seq, original_seq, corrects_seq, merged_seqs, said_hash: contentHash(naming) });
    return { seq, original_seq, again: false };
  };
  return writeInTurn(agent_id, () => context.database.transaction(write));
}

/** Reads an inflow or a correction. Null if the book has no such row with this task id. */
async function inflowRow(
  database: Pick<Database, 'query'>,
  agent_id: AgentId,
  task_id: string,
): Promise<InflowRow | null> {
  const [found] = await database.query<{ inflow: InflowRow }>({
    name: 'inflow row',
    text: `select jsonb_strip_nulls(jsonb_build_object('seq', r.seq, 'original_seq', coalesce(c.original_seq, r.seq),
        'bucket', r.facts->'bucket', 'allocation', r.facts->'allocation', 'model', r.model, 'hub', r.hub)) as inflow
      from book_row r left join book_correction c using (agent_id, seq)
      where r.agent_id = $1 and r.task_id = $2 and r.evidence = 'inflow_claimed'`,
    values: [agent_id, task_id],
  });
  return found?.inflow ?? null;
}

/** Values after the correction: those of the request, or else those of the row before. */
function currentValues(
  before: InflowRow,
  { bucket, allocation }: { readonly bucket?: string | undefined; readonly allocation?: string | undefined },
): Pick<InflowRow, 'bucket' | 'allocation'> {
  return { bucket: bucket ?? before.bucket, allocation: allocation ?? before.allocation };
}

/**
 * Requires that the signed and the requested merges are equal.
 * @throws inflow_claim_invalid
 */
function requireSameMerges(requested: CorrectionRequest['merges'], signed: SignedCorrection | null): void {
  if (!requested || signed === null) return;
  const named = (merges: readonly string[] = []) => canonicalJson([...new Set(merges)].sort());
  if (named(requested) !== named(signed.merges)) throw new Refusal('inflow_claim_invalid', { param: 'merges' });
}

type SignedCorrection = WalletClaim & {
  readonly bucket?: string | undefined;
  readonly allocation?: string | undefined;
  readonly merges?: readonly string[] | undefined;
};

/**
 * Correction that the wallet has signed. Null if the request has no signed one.
 * @throws invalid_request if it has a signature but is not a valid signed correction
 */
function signedCorrectionOf({ correction }: { readonly correction?: JsonObject | undefined }): SignedCorrection | null {
  if (!isJsonObject(correction) || !Object.hasOwn(correction, 'signature')) return null;
  return parseRequest(SignedCorrectionRequest, { correction }).correction as SignedCorrection;
}

/**
 * Content of a correction. Members that the request leaves out have the values that apply after the correction. `merges` has every
 * branch in the order of seq. It is present only in a merge, so that older hashes stay valid.
 */
interface CorrectionContent extends JsonObject {
  readonly reason: string;
  readonly bucket: string;
  /** Allocated amount in atomic USDC, as decimal digits. */
  readonly allocation: string;
  /** Free-form object of the request. Null if there is none, or if the wallet signed the correction. */
  readonly correction: JsonObject | null;
  /** Claim that the wallet signed, without the signature, because one text can have several signatures. Null if there is none. */
  readonly wallet_claim: JsonObject | null;
}

interface CorrectionName {
  readonly agent_id: AgentId;
  /** Seq of the corrected row. */
  readonly corrects_seq: number;
  readonly said: CorrectionContent;
}

function withoutSignature({ signature: _, ...claim }: WalletClaim): JsonObject {
  return claim;
}

/** SHA-256 of the content in canonical JSON (RFC 8785). */
function contentHash({ said }: CorrectionName): string {
  return canonicalHash(said);
}

/**
 * Seq of an equal correction of the same row, or null. The second of two concurrent requests waits here. Must be called before any
 * head is locked, as for every id that a caller chooses.
 */
async function sameCorrection(tx: Tx, naming: CorrectionName): Promise<Pick<InflowRow, 'seq'> | null> {
  const { agent_id, corrects_seq, said } = naming;
  const hash = contentHash(naming);
  await tx.query({
    name: 'lock correction',
    text: `select pg_advisory_xact_lock(hashtextextended('correction ' || $1::int || ' ' || $2::int || ' ' || $3, 0))`,
    values: [agent_id, corrects_seq, hash],
  });
  const { rows } = await tx.query<{ seq: number }>({
    name: 'same correction',
    text: SAME,
    values: [agent_id, corrects_seq, hash, JSON.stringify(said)],
  });
  return rows[0] ?? null;
}

/** Older corrections have no hash and are compared by their rows. If several are equal, the first one is returned. */
const SAME = `select c.seq from book_correction c where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash = $3
  union all
  (select c.seq from book_correction c join book_row r using (agent_id, seq)
    where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash is null and r.evidence = 'inflow_claimed'
      and jsonb_build_object('reason', r.facts->'reason', 'bucket', r.facts->'bucket',
        'allocation', r.facts->'allocation', 'correction', r.facts->'inflow_claim'->'correction',
        'wallet_claim', (r.facts->'inflow_claim'->'wallet_claim') - 'signature') = $4::jsonb
    order by c.seq limit 1)
  limit 1`;
