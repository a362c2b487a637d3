import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import { scoreLimits } from '../../../schema/limits.ts';
import { type ProvenPayment, provenPayments } from '../../book/ingest/proven-payments.ts';
import type { Database } from '../../database.ts';
import { collectedPayer } from '../../receipt/receipt/collected-payer.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';
import type { BoardContext } from '../context.ts';
import { CAN_WEIGH, STANDING } from '../post/post.entity.ts';
import { type FundingEdge, isFunding } from './clusters.ts';
import type { Funder } from './look.ts';
import { mostPaid, type ScoreInputs, type ScoreRow } from './rule.ts';
import { scoreWeights } from './weights.ts';
import { fillWindow, type WeighablePost } from './window.ts';

/* Reads the inputs of a host's score: its published posts, the signed content of their receipts, and the funders of their payers. */

/** Range of blocks on Base that was searched for the funders of a payer. The blocks are null before the search. */
export interface FundedPayer extends JsonObject {
  readonly payer: string;
  readonly known: boolean;
  readonly from_block: number | null;
  readonly to_block: number | null;
}

/** Counts of the newest published reports about a host, with or without weight. If `complete`, they count all of its reports. */
export interface ReportCounts extends JsonObject {
  readonly posts: number;
  readonly complete: boolean;
  readonly by_outcome: { readonly [outcome in ScoreRow['outcome']]: number };
  readonly by_backing: { readonly [backing in ScoreRow['backing']]: number };
  /** Number of confirmations of these reports by other agents. */
  readonly confirms: number;
}

export interface ReadInputs extends ScoreInputs {
  readonly looks: readonly FundedPayer[];
  readonly counts: ReportCounts;
}

type Reader = Pick<BoardContext, 'database' | 'treasuries'>;

/**
 * Pseudonym of a wallet. It is computed from the address alone, so the same wallet always has the same pseudonym, and anyone who has the
 * address can compute it. It does not hide an identity.
 */
export function pseudonym(wallet: string): string {
  return `wallet_${sha256Hex(`svc.board.wallet.v1\n${spelt(wallet)}`).slice(0, 32)}`;
}

const spelt = (wallet: string): string => (wallet.startsWith('0x') ? wallet.toLowerCase() : wallet);

export async function readInputs({ database, treasuries }: Reader, endpoint_host: string): Promise<ReadInputs> {
  const { post_ids, rows_free } = fillWindow(await weightiestPosts(database, endpoint_host));
  const posts = await shownPosts(database, endpoint_host, post_ids);
  const refs = posts.flatMap(({ receipt_ref }) => receipt_ref ?? []);
  const receipts = new Map((await readReceipts(database, refs)).map((receipt, at) => [refs[at], receipt]));
  const foreign = await provenPayments(database, refs);
  const paid = posts.map(post => {
    const receipt = receipts.get(post.receipt_ref ?? '') ?? null;
    const { payer, pay_to } = paymentOf(receipt, foreign.get(post.receipt_ref ?? ''));
    return { post, payer: payer && spelt(payer), payee: pay_to && spelt(pay_to) };
  });
  const funding = await fundingOf(database, [...new Set(paid.flatMap(({ payer }) => payer ?? []))]);
  const owners = new Set(Object.values(treasuries).map(spelt));
  const most_paid = mostPaid(paid.map(({ post, payer }) => ({ payer, amount: String(post.amount) })));
  const rows = paid.map(({ post, payer, payee }): ScoreRow => {
    const poster = spelt(post.wallet ?? '');
    const funders = (funding.get(payer ?? '')?.funders ?? []).filter(({ amount }) =>
      isFunding(amount ?? null, most_paid.get(payer ?? '') ?? 0n, scoreWeights),
    );
    const one_hand = payee !== null && [payer, poster, ...funders.map(({ funder }) => funder)].includes(payee);
    return {
      post_id: post.post_id,
      outcome: post.outcome,
      amount: String(post.amount),
      rail: post.rail,
      backing: post.spend_backed ? 'spend-backed' : 'stamp-backed',
      host_basis: post.host_basis,
      paid_here: post.paid_here,
      proven: payer !== null,
      self_dealt: one_hand || owners.has(poster) || owners.has(payer ?? ''),
      payer: payer && pseudonym(payer),
    };
  });
  return {
    rows,
    rows_free,
    counts: await countReports(database, endpoint_host),
    ...shownFunding(
      funding,
      paid.flatMap(({ payer }) => payer ?? []),
    ),
  };
}

/** Counts the newest reports about a host. One row more than the maximum is read, to find out whether there are others. */
async function countReports({ query }: Pick<Database, 'query'>, endpoint_host: string): Promise<ReportCounts> {
  const max = scoreLimits.reports_counted_max;
  const of = (column: string, value: string) => `count(*) filter (where ${column} = '${value}')::int`;
  const outcomes = Object.keys(scoreWeights.outcome_bp).map(outcome => `'${outcome}', ${of('outcome', outcome)}`);
  const [found] = await query<ReportCounts & Record<string, unknown>>({
    name: 'count board reports of host',
    text: `with newest as materialized (
        select outcome, spend_backed, confirm_count from board_post where endpoint_host = $1 and ${STANDING}
        order by post_id desc limit $2::int + 1)
      select count(*)::int as posts, (select count(*) <= $2 from newest) as complete,
        jsonb_build_object(${outcomes.join(', ')}) as by_outcome,
        jsonb_build_object('spend-backed', ${of('spend_backed', 'true')}, 'stamp-backed', ${of('spend_backed', 'false')}) as by_backing,
        coalesce(sum(confirm_count), 0)::int as confirms
      from (select * from newest limit $2) counted`,
    values: [endpoint_host, max],
  });
  if (!found) throw new Error('reports were not counted');
  return found;
}

interface StandingPost {
  readonly post_id: string;
  readonly outcome: ScoreRow['outcome'];
  readonly amount: bigint;
  readonly rail: string;
  readonly host_basis: ScoreRow['host_basis'];
  readonly paid_here: boolean;
  readonly receipt_ref: string | null;
  readonly spend_backed: boolean;
  /** Wallet of the author of the post. */
  readonly wallet: string | null;
}

/**
 * Reads the posts that can have weight, with the payers that their receipts name. Wallets are compared in lower case, because no two
 * wallets of Solana differ in case alone.
 */
function weightiestPosts({ query }: Pick<Database, 'query'>, endpoint_host: string): Promise<WeighablePost[]> {
  return query<WeighablePost & Record<string, unknown>>({
    name: 'heaviest board posts',
    text: `select p.post_id, p.amount_atomic as amount, lower(r.payer_wallet) as payer
      from (select post_id, amount_atomic, receipt_ref from board_post
        where endpoint_host = $1 and ${STANDING} and ${CAN_WEIGH}
        order by amount_atomic desc, post_id desc limit $2) p
      left join receipt r on r.task_id = p.receipt_ref`,
    values: [endpoint_host, scoreLimits.candidates_max],
  });
}

/** Reads the posts in the window, and also those of the newest posts that cannot have weight, which are shown with the reason. */
function shownPosts(
  { query }: Pick<Database, 'query'>,
  endpoint_host: string,
  weighable: readonly string[],
): Promise<StandingPost[]> {
  return query<StandingPost & Record<string, unknown>>({
    name: 'board posts to score',
    text: `select p.post_id, p.outcome, p.amount_atomic as amount, p.rail, p.host_basis, p.paid_here, p.receipt_ref, p.spend_backed,
        a.wallet
      from board_post p left join agent a using (agent_id)
      where p.post_id = any($3::text[] || array(select post_id from (select * from board_post
        where endpoint_host = $1 and ${STANDING} order by post_id desc limit $2) newest where not (${CAN_WEIGH})))
      order by p.post_id desc`,
    values: [endpoint_host, scoreLimits.rows_max, weighable],
  });
}

/**
 * Payer and payee of a cited receipt: from the receipt for a call here, from the chain for a payment to another party. Both are null if
 * there is no receipt, or if it is damaged.
 */
function paymentOf(
  receipt: Awaited<ReturnType<typeof readReceipts>>[number],
  foreign: ProvenPayment | undefined,
): { readonly payer: string | null; readonly pay_to: string | null } {
  if (receipt === null || receipt instanceof Refusal) return { payer: null, pay_to: null };
  return foreign ?? { payer: collectedPayer(receipt), pay_to: payeeOf(receipt.payload) };
}

function payeeOf(payload: string): string | null {
  const { payment } = JSON.parse(payload) as JsonObject;
  const { pay_to } = isJsonObject(payment) ? payment : {};
  return typeof pay_to === 'string' ? pay_to : null;
}

interface Funding {
  readonly payer: string;
  readonly state: string;
  readonly from_block: number | null;
  readonly to_block: number | null;
  readonly funders: readonly Funder[] | null;
}

async function fundingOf({ query }: Pick<Database, 'query'>, payers: readonly string[]) {
  if (payers.length === 0) return new Map<string, Funding>();
  const rows = await query<Funding & Record<string, unknown>>({
    name: 'board funding of payers',
    text: 'select payer, state, from_block, to_block, funders from board_funding where payer = any($1)',
    values: [payers],
  });
  return new Map(rows.map(row => [row.payer, row]));
}

/**
 * Edges and searches as they are published, sorted so that the same facts give the same bytes. A payer without known funding is listed
 * among the searches and merges no others.
 */
function shownFunding(funding: ReadonlyMap<string, Funding>, payers: readonly string[]) {
  const sorted = [...new Set(payers)].sort();
  const edges = sorted.flatMap(payer =>
    (funding.get(payer)?.funders ?? []).map(
      ({ funder, amount = null, funded_wallets }): FundingEdge => ({
        funder: pseudonym(funder),
        payer: pseudonym(payer),
        amount,
        funded_wallets,
      }),
    ),
  );
  const looks = sorted.map((payer): FundedPayer => {
    const found = funding.get(payer);
    const range = { from_block: found?.from_block ?? null, to_block: found?.to_block ?? null };
    return { payer: pseudonym(payer), known: found?.state === 'known', ...range };
  });
  return { edges, looks: looks.sort((a, b) => (a.payer < b.payer ? -1 : 1)) };
}
