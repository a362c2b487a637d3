import { GraphQLJSONObject } from 'graphql-scalars';
import { Args, Ctx, Directive, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { BoughtTaskNoun, BoughtTaskPageNoun } from '../../../schema/bought-task.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { taskNamedBy } from '../../../schema/ids.ts';
import type { RawJson } from '../../../schema/json-text.ts';
import { buyerLimits, limits } from '../../../schema/limits.ts';
import { BoughtTaskRequest, BoughtTasksRequest, CancelTaskRequest } from '../../../schema/requests/bought-task.ts';
import {
  type Arguments,
  argumentsType,
  descriptionOptions,
  givenMembers,
  objectType,
  readRequest,
} from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted, resultUnlessHalted } from '../log/halt-guard.ts';
import { receiptDocument } from '../receipt/document.ts';
import { taskUnlessHalted } from '../receipt/task-status.ts';
import { buyerOf, isBoughtBy, isUnproven, type ProvenBuyer } from './buyer.ts';
import { isOfferName, offerNames, openAnswer, type TaskFacts, taskFacts, tasksOfOffer, taskUnderName } from './find.ts';
import { positionOf, tasksOf } from './list.ts';

const BoughtTask = objectType(
  'BoughtTask',
  'A bought task. Its answer and receipt are shown only to its buyer.',
  BoughtTaskNoun,
);
type BoughtTask = InstanceType<typeof BoughtTask>;
const BoughtTasks = objectType('BoughtTasks', 'A page of the tasks that the caller has bought.', BoughtTaskPageNoun);
type BoughtTasks = InstanceType<typeof BoughtTasks>;

const members = BoughtTaskNoun.shape;
const TaskArguments = argumentsType(BoughtTaskRequest);
const CancelArguments = argumentsType(CancelTaskRequest);
const ListArguments = argumentsType(BoughtTasksRequest);

const { tasks_page_default, tasks_page_max } = buyerLimits;

/** Shows tasks: to their buyers with answer and receipt, to other callers without. */
@Resolver(() => BoughtTask)
export class BoughtTaskResolver {
  @Query(() => BoughtTask, {
    nullable: true,
    description:
      'State of a task and, for its buyer (by API key as `Authorization: Bearer`, possession of the book, or a signature in `payer`), its answer and receipt. Null if no task has this id, if nothing was bought by the offer with this id, or on error.',
  })
  async boughtTask(
    @Args(() => TaskArguments) asked: Arguments,
    @Ctx() context: ReceiptContext,
  ): Promise<BoughtTask | null> {
    const { task_id: named, payer } = givenMembers(BoughtTaskRequest, asked);
    const buyer = await buyerOf(payer ?? null, context);
    if (!isOfferName(named))
      return resultUnlessHalted(context.database, await findBoughtTask(taskNamedBy(named), buyer, context));
    const task_id = resultUnlessHalted(context.database, await taskUnderName(context, named, buyer));
    return task_id === null
      ? null
      : resultUnlessHalted(context.database, await findBoughtTask(task_id, buyer, context, named));
  }

  @Directive(pageByLimit(tasks_page_default, 'tasks'))
  @Query(() => BoughtTasks, {
    description:
      'Tasks that were bought by the wallets of the caller or with its API key (not a demo key), or that are recorded on the books that it possesses, including tasks that were refused or canceled.',
  })
  async boughtTasks(@Args(() => ListArguments) asked: Arguments, @Ctx() context: ReceiptContext): Promise<BoughtTasks> {
    const { payer, context_id, states, since, before, limit } = readRequest(BoughtTasksRequest, asked);
    const count = limit ?? tasks_page_default;
    if (count < 1 || count > tasks_page_max)
      throw new Refusal('invalid_request', { param: 'limit', detail: `limit must be from 1 to ${tasks_page_max}.` });
    if (before && positionOf(before) === null)
      throw new Refusal('invalid_request', {
        param: 'before',
        detail: 'before must be the `next` of an earlier page.',
      });
    const buyer = requireSomebody(await buyerOf(payer ?? null, context));
    const offer = context_id && isOfferName(context_id) ? await tasksOfOffer(context, context_id, buyer) : null;
    const page = await tasksOf(context.database, buyer, {
      context_ids: context_id ? [context_id, ...(offer?.all ?? [])] : null,
      states: states ?? null,
      since: since ? new Date(since) : null,
      before: before ?? null,
      count,
    });
    const names = await offerNames(
      context,
      page.tasks.flatMap(({ task_id, intent_id }) => (intent_id === null ? [task_id] : [])),
    );
    const tasks = page.tasks.map(({ task_id, intent_id, ...task }) => {
      const named = task_id === offer?.bought ? context_id : names.get(task_id);
      return boughtTask({ ...task, taskId: task_id, contextId: intent_id ?? named ?? task_id, isBuyers: true });
    });
    for (const task of tasks) listed.add(task);
    return { ...page, tasks };
  }

  @Mutation(() => BoughtTask, {
    nullable: true,
    description:
      'Cancels a task before its payment is sent. Requires the API key of the buyer (`Authorization: Bearer`), possession of its book, or a signature of the payer in `payer`. Null if no task has this id, or on error.',
  })
  async cancelTask(
    @Args(() => CancelArguments) asked: Arguments,
    @Ctx() context: ReceiptContext,
  ): Promise<BoughtTask | null> {
    requireNotHalted(context.database);
    const { task_id: named, payer } = givenMembers(CancelTaskRequest, asked);
    const task_id = taskNamedBy(named);
    const task = await findBoughtTask(task_id, requireSomebody(await buyerOf(payer ?? null, context)), context);
    if (task === null) return null;
    if (!task.isBuyers) throw new Refusal('not_a_party');
    if (task.state === 'canceled') return task;
    if (task.state !== 'working' || !(await context.cancelTask(task_id))) throw new Refusal('task_not_cancelable');
    return boughtTask({ ...task, state: 'canceled', at: new Date(context.clock.now_ms()) });
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, { nullable: true, ...descriptionOptions(members.answer) })
  async answer(@Root() task: BoughtTask, @Ctx() context: ReceiptContext): Promise<JsonObject | RawJson | null> {
    const facts = await shown(task, context);
    if (!facts || !isShown(facts, task)) return null;
    takeAnswerBytes(context, facts.answer_bytes);
    return openAnswer(context, task.taskId, facts);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, { nullable: true, ...descriptionOptions(members.receipt) })
  async receiptDocument(@Root() task: BoughtTask, @Ctx() context: ReceiptContext): Promise<JsonObject | null> {
    const receipt = (await shown(task, context))?.receipt;
    return receipt ? receiptDocument(receipt, context.base_url, context.profile, context.newestSize()) : null;
  }
}

/** Facts by task object, so that one task is looked up once. */
const known = new WeakMap<BoughtTask, Promise<TaskFacts | null>>();

/** Tasks that are items of a list. */
const listed = new WeakSet<BoughtTask>();

/** Bytes of the answers that were requested so far, by the context of the request. */
const answer_bytes = new WeakMap<ReceiptContext, number>();

/**
 * Counts the bytes of an answer before it is decrypted, because with aliases one request could ask a hundred times for an answer of
 * megabytes.
 * @throws answer_too_large
 */
function takeAnswerBytes(context: ReceiptContext, bytes: number): void {
  const total = (answer_bytes.get(context) ?? 0) + bytes;
  answer_bytes.set(context, total);
  const max = limits.graphql_answer_bytes_max;
  if (total <= max) return;
  const detail = `The answers of the selected tasks take more than ${max} bytes. Select fewer of them, and each of them once.`;
  throw new Refusal('answer_too_large', { detail, facts: { max } });
}

function shown(task: BoughtTask, { database }: ReceiptContext): Promise<TaskFacts | null> {
  if (!task.isBuyers) return Promise.resolve(null);
  const facts = known.get(task) ?? taskFacts(database, task.taskId);
  known.set(task, facts);
  return facts;
}

const boughtTask = (members: BoughtTask): BoughtTask => Object.assign(new BoughtTask(), members);

/** `offer`: name of the offer, if the request names the task by it. Returns null if no task has this id. */
async function findBoughtTask(
  task_id: string,
  buyer: ProvenBuyer,
  context: ReceiptContext,
  offer: string | null = null,
): Promise<BoughtTask | null> {
  const [standing, facts] = await Promise.all([context.findTask(task_id), taskFacts(context.database, task_id)]);
  const status = taskUnlessHalted(context.database, standing);
  if (status === null) return null;
  const mine = facts !== null && isBoughtBy(facts, buyer);
  // An intent becomes public with the receipt that signs it, and not before.
  const intent_id = mine || facts?.receipt ? (facts?.intent_id ?? null) : null;
  const named = offer ?? (mine && intent_id === null ? (await offerNames(context, [task_id])).get(task_id) : null);
  const at = facts?.at ?? new Date(0);
  const task = boughtTask({
    taskId: task_id,
    state: status.status,
    at,
    contextId: intent_id ?? named ?? task_id,
    isBuyers: mine,
  });
  known.set(task, Promise.resolve(facts));
  return task;
}

/**
 * Whether the answer is shown. The answer to a stamp may contain a secret that is shown only once, so it is not shown here. A list shows
 * only texts, because a page of images or vectors would be larger than any response.
 */
function isShown({ receipt, is_work }: TaskFacts, task: BoughtTask): boolean {
  if (receipt === null || !is_work) return false;
  return !listed.has(task) || (JSON.parse(receipt.payload) as { job_kind?: string }).job_kind === 'completions';
}

/** Requires at least one proven credential. @throws unauthenticated */
function requireSomebody(buyer: ProvenBuyer): ProvenBuyer {
  if (isUnproven(buyer)) throw new Refusal('unauthenticated');
  return buyer;
}
