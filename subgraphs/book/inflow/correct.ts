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

/** The members of an inflow, or of its correction, that the next correction builds on. They never change. */
interface InflowRow {
  readonly seq: number;
  /** seq of the inflow that the chain of corrections starts from. */
  readonly original_seq: number;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  readonly model?: string;
  readonly hub?: string;
}

/** Positions of the two rows. */
interface CorrectionResult {
  readonly original_seq: number;
  readonly seq: number;
  /** True if it existed before and nothing was appended. */
  readonly again: boolean;
}

/**
 * Appends a correction to the inflow or the earlier correction that it names. Nothing is changed or preferred: another correction
 * of the same row is appended too and makes a fork. Repeating a correction returns the existing one, so that a client can retry.
 * Members that are left out are unchanged. A merge names the branches of a fork; they get one more successor, and the fork stays.
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
    // Only now, because a merged row has a successor by then, and a retry must not fail.
    if (merge) requireBranches(merge);
    const { seq } = await appendInflow(tx, agent_id, birth);
    const merged_seqs = branches.map(branch => branch.seq);
    supersede(tx, { agent_id, seq, original_seq, corrects_seq, merged_seqs, said_hash: contentHash(naming) });
    return { seq, original_seq, again: false };
  };
  return writeInTurn(agent_id, () => context.database.transaction(write));
}

/** Null if the book has no inflow row with this task id. */
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

/** Values from now on: the new ones, otherwise those of the row before. */
function currentValues(
  before: InflowRow,
  { bucket, allocation }: { readonly bucket?: string | undefined; readonly allocation?: string | undefined },
): Pick<InflowRow, 'bucket' | 'allocation'> {
  return { bucket: bucket ?? before.bucket, allocation: allocation ?? before.allocation };
}

/** The signed and the requested merges must be equal. @throws inflow_claim_invalid */
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

/** Null if it was not signed beforehand. @throws invalid_request if it has a signature but is not such a claim */
function signedCorrectionOf({ correction }: { readonly correction?: JsonObject | undefined }): SignedCorrection | null {
  if (!isJsonObject(correction) || !Object.hasOwn(correction, 'signature')) return null;
  return parseRequest(SignedCorrectionRequest, { correction }).correction as SignedCorrection;
}

/**
 * Content of a correction. Members left out of the request are those in force from then on. `merges`, every branch in the order of
 * seq, is only in a merge, so that older hashes stay valid.
 */
interface CorrectionContent extends JsonObject {
  readonly reason: string;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  /** The free object of the request. */
  readonly correction: JsonObject | null;
  /** Without its signature, because one text can have several. */
  readonly wallet_claim: JsonObject | null;
}

interface CorrectionName {
  readonly agent_id: AgentId;
  /** Position of the corrected row. */
  readonly corrects_seq: number;
  readonly said: CorrectionContent;
}

function withoutSignature({ signature: _, ...claim }: WalletClaim): JsonObject {
  return claim;
}

/** SHA-256 of its canonical JSON (RFC 8785). */
function contentHash({ said }: CorrectionName): string {
  return canonicalHash(said);
}

/**
 * Position of an equal correction of the same row, or null. Of two concurrent requests the second waits here. Before any head is
 * locked, like every id chosen by a caller.
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

/** Older corrections have no hash and are compared by their rows. If they forked, the first counts. */
const SAME = `select c.seq from book_correction c where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash = $3
  union all
  (select c.seq from book_correction c join book_row r using (agent_id, seq)
    where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash is null and r.evidence = 'inflow_claimed'
      and jsonb_build_object('reason', r.facts->'reason', 'bucket', r.facts->'bucket',
        'allocation', r.facts->'allocation', 'correction', r.facts->'inflow_claim'->'correction',
        'wallet_claim', (r.facts->'inflow_claim'->'wallet_claim') - 'signature') = $4::jsonb
    order by c.seq limit 1)
  limit 1`;
