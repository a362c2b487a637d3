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
import { appendInflow, inflowBirth } from './record.ts';
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

/** Where the two rows stand. */
interface Corrected {
  readonly original_seq: number;
  readonly seq: number;
  /** It stood before: nothing was appended. */
  readonly again: boolean;
}

/**
 * Appends a correction to the inflow, or to the earlier correction, that it names. Nothing is changed and nobody elected: a
 * second one of the same row that says something else is appended as well, and makes a fork. One that says the same is the
 * same correction, however often it is sent: a client that lost the answer may ask again. What it leaves out stands as it was.
 * One that merges names the branches of a fork: they have one successor more, and the fork stays.
 * @throws inflow_not_found, inflow_claim_invalid, invalid_request, duplicate_task, rate_limited, book_damaged
 */
export async function correctInflow(
  request: CorrectionRequest,
  agent_id: AgentId,
  context: BookContext,
): Promise<Corrected> {
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
  const { bucket, allocation } = standing(before, signed ?? request);
  const correction = signed ? undefined : request.correction;
  const claimed = { agent_id, task_id, bucket, allocation, corrects, reason, correction, merges, wallet_word };
  const inflow_claim = signedInflow(context, { ...claimed, model: before.model, hub: before.hub });
  const birth = inflowBirth(
    { ...before, task_id },
    { bucket, allocation, corrects, reason, inflow_claim, ...present({ merges }) },
  );
  const { original_seq, seq: corrects_seq } = before;
  const wallet_claim = signed && withoutSignature(signed);
  const said_now = { reason, bucket, allocation, correction: correction ?? null, wallet_claim, ...present({ merges }) };
  const naming: Naming = { agent_id, corrects_seq, said: said_now };
  const write = async (tx: Tx) => {
    const same = await sameCorrection(tx, naming);
    if (same) return { seq: same.seq, original_seq, again: true };
    // Not before: what was merged has a successor by then, and asking again is no fault.
    if (merge) requireBranches(merge);
    const { seq } = await appendInflow(tx, agent_id, birth);
    const merged_seqs = branches.map(branch => branch.seq);
    supersede(tx, { agent_id, seq, original_seq, corrects_seq, merged_seqs, said_hash: saidHash(naming) });
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

/** What holds from now on: what is said anew, and the rest as the row before says it. */
function standing(
  before: InflowRow,
  { bucket, allocation }: { readonly bucket?: string | undefined; readonly allocation?: string | undefined },
): Pick<InflowRow, 'bucket' | 'allocation'> {
  return { bucket: bucket ?? before.bucket, allocation: allocation ?? before.allocation };
}

/** As with all else that stands in both: what was signed is not another thing than what is asked. @throws inflow_claim_invalid */
function requireSameMerges(asked: CorrectionRequest['merges'], signed: SignedCorrection | null): void {
  if (!asked || signed === null) return;
  const named = (merges: readonly string[] = []) => canonicalJson([...new Set(merges)].sort());
  if (named(asked) !== named(signed.merges)) throw new Refusal('inflow_claim_invalid', { param: 'merges' });
}

type SignedCorrection = WalletClaim & {
  readonly bucket?: string | undefined;
  readonly allocation?: string | undefined;
  readonly merges?: readonly string[] | undefined;
};

/** Null where nobody has signed it beforehand. @throws invalid_request where it says so and is no such claim */
function signedCorrectionOf({ correction }: { readonly correction?: JsonObject | undefined }): SignedCorrection | null {
  if (!isJsonObject(correction) || !Object.hasOwn(correction, 'signature')) return null;
  return parseRequest(SignedCorrectionRequest, { correction }).correction as SignedCorrection;
}

/**
 * What a correction says of the row that it names. What it left out of its request stands in it as it holds from then on.
 * `merges`, every branch in the order of seq, stands in that of one which merges, and in no other: their hash stays.
 */
interface Said extends JsonObject {
  readonly reason: string;
  readonly bucket: string;
  /** Atomic USDC, digits. */
  readonly allocation: string;
  /** The free object that it carries. */
  readonly correction: JsonObject | null;
  /** Without its signature, of which there may be several over one text. */
  readonly wallet_claim: JsonObject | null;
}

interface Naming {
  readonly agent_id: AgentId;
  /** Of the row that is corrected. */
  readonly corrects_seq: number;
  readonly said: Said;
}

function withoutSignature({ signature: _, ...claim }: WalletClaim): JsonObject {
  return claim;
}

/** SHA-256 of it as canonical JSON (RFC 8785). */
function saidHash({ said }: Naming): string {
  return canonicalHash(said);
}

/**
 * Where the correction stands that names the same row and says the same; null where there is none. Of two that are sent at
 * once the second waits here for the first. Before any head is locked, as with every id that its caller chose.
 */
async function sameCorrection(tx: Tx, naming: Naming): Promise<Pick<InflowRow, 'seq'> | null> {
  const { agent_id, corrects_seq, said } = naming;
  const hash = saidHash(naming);
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

/** Corrections of before have no hash: they are compared by what stands on their rows. The first stands where they forked. */
const SAME = `select c.seq from book_correction c where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash = $3
  union all
  (select c.seq from book_correction c join book_row r using (agent_id, seq)
    where c.agent_id = $1 and c.corrects_seq = $2 and c.said_hash is null and r.evidence = 'inflow_claimed'
      and jsonb_build_object('reason', r.facts->'reason', 'bucket', r.facts->'bucket',
        'allocation', r.facts->'allocation', 'correction', r.facts->'inflow_claim'->'correction',
        'wallet_claim', (r.facts->'inflow_claim'->'wallet_claim') - 'signature') = $4::jsonb
    order by c.seq limit 1)
  limit 1`;
