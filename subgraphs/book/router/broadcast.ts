import { atomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { BroadcastRequest } from '../../../schema/requests/router.ts';
import type { RouterLookUp } from '../../../schema/router/book.ts';
import { Secret } from '../../../schema/secret.ts';
import { asEntity } from '../../columns.ts';
import { takeUse } from '../../counted-use.ts';
import { newTask } from '../../new-task.ts';
import { databaseBeforeKey } from '../../receipt/written-once/written-once.ts';
import type { BookContext } from '../context.ts';
import { tooMany, unsealRouterKey } from './books.ts';
import { readGenerations, saysTheSame, verifyGeneration } from './generations.ts';
import { type RouterBook, RouterGeneration } from './router-book.entity.ts';
import { failedLookUp, giveBackUse, unverifiedUses, verifiedUses } from './uses.ts';

export interface GenerationBroadcast {
  readonly generation: RouterGeneration;
  readonly look_up: RouterLookUp;
  /** True if the same generation was reported before. */
  readonly again: boolean;
}

type BroadcastContext = Pick<
  BookContext,
  'database' | 'vault' | 'clock' | 'random' | 'principal' | 'reports' | 'router_look_ups' | 'named_write'
>;

/**
 * Issues one receipt per generation and book. If the book has a key of the router, the router is asked to confirm the generation
 * before the report is recorded. Repeating a report returns the same receipt, and asks the router again until it has confirmed the
 * generation. Nothing of a report is stored before it is recorded as a whole, so a crash leaves no part of it. @throws
 * generation_conflict, rate_limited, book_damaged, unavailable
 */
export async function broadcastGeneration(
  context: BroadcastContext,
  book: RouterBook,
  said: BroadcastRequest,
): Promise<GenerationBroadcast> {
  const { database, reports, vault, principal, clock, random } = context;
  const name = { bookId: book.bookId, generationId: said.generation_id };
  const [standing] = await readGenerations(database, [name]);
  if (standing) requireTheSame(standing, said);
  const look_up = standing?.verifiedWith ? 'matched_before' : await lookUp(context, book, said);
  const verified_with = look_up === 'matched' ? (context.router_look_ups?.router ?? null) : null;
  if (standing) return shownGeneration(context, standing, { look_up, verified_with });
  const { generation_id: generationId, model, rail, amount, payment_ref: paymentRef = null } = said;
  const generation = asEntity(RouterGeneration, {
    bookId: book.bookId,
    generationId,
    taskId: newTask({ clock, random }),
    model,
    rail,
    paymentRef,
    amount: atomicAmount(BigInt(amount)),
    verifiedWith: verified_with,
    reportedAt: new Date(clock.now_ms()),
  });
  const unverified = () => unverifiedUses(vault, book.bookId, principal.address);
  const uses = verified_with === null ? unverified() : verifiedUses(book.bookId);
  const outcome = await reports.record({
    generation,
    agent_id: book.agentId,
    uses,
    named: context.named_write ?? null,
  });
  if (outcome.kind === 'full') throw tooMany(outcome.seconds, fullDetail(outcome.use.max, verified_with !== null));
  if (outcome.kind === 'recorded') return { generation, look_up, again: false };
  requireTheSame(outcome.standing, said);
  return shownGeneration(context, outcome.standing, { look_up, verified_with });
}

const fullDetail = (max: number, verified: boolean) =>
  `At most ${max} ${verified ? 'verified broadcasts per book' : 'unverified broadcasts per book or address'} are accepted per day.`;

/** Requires that a report has the same facts as the recorded generation. @throws generation_conflict */
function requireTheSame(standing: RouterGeneration, said: BroadcastRequest): void {
  if (saysTheSame(standing, said)) return;
  throw new Refusal('generation_conflict', { param: 'generation_id', facts: { task_id: standing.taskId } });
}

/** Returns a recorded generation. If this lookup is the first that confirmed it, that is stored. */
async function shownGeneration(
  { database, reports }: BroadcastContext,
  standing: RouterGeneration,
  { look_up, verified_with }: { readonly look_up: RouterLookUp; readonly verified_with: string | null },
): Promise<GenerationBroadcast> {
  await reports.requireSaved(standing.taskId);
  const wanted = verified_with !== null && standing.verifiedWith === null;
  const generation = wanted ? await verifyGeneration(database, standing, verified_with) : standing;
  return { generation, look_up, again: true };
}

/**
 * Looks the generation up at the router. The lookup counts as unsuccessful before it is made, so that concurrent lookups stay within
 * the limit, and is subtracted again if it matched or was not made. @throws rate_limited
 */
async function lookUp(
  { database, vault, router_look_ups }: BroadcastContext,
  { bookId, routerKeyBox }: RouterBook,
  { generation_id, model, amount }: BroadcastRequest,
): Promise<RouterLookUp> {
  if (routerKeyBox === null || router_look_ups === null) return 'no_key';
  const use = failedLookUp(bookId);
  const counting = databaseBeforeKey(database);
  if ((await takeUse(counting, 'router_use', use)) !== null) return 'resting';
  const key = new Secret(unsealRouterKey(vault, bookId, routerKeyBox));
  const looked = await router_look_ups.ask(bookId, key, { generation_id, model, amount: BigInt(amount) });
  if (looked === null || looked === 'matched') await giveBackUse(counting, use);
  if (looked === null)
    throw tooMany(1, 'Too many look-ups with this key, or with all keys together, are running. Try again in a moment.');
  return looked;
}
