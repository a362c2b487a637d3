import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { taskNamedBy } from '../../../schema/ids.ts';
import { buyerLimits, limits } from '../../../schema/limits.ts';
import { pageLimitWords } from '../../../schema/requests/page-limit.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { ReceiptContext } from '../context.ts';
import { foundUnlessHalted, requireNotHalted } from '../log/while-halted.ts';
import { receiptDocument } from '../receipt/document.ts';
import { taskUnlessHalted } from '../receipt/task-status.ts';
import { BoughtTask, BoughtTasks, TaskStateWord } from './bought-task.type.ts';
import { buyerOf, isBuyers, isNobody, type ProvenBuyer } from './buyer.ts';
import { isOfferName, offerNames, openAnswer, type TaskFacts, taskFacts, tasksOfOffer, taskUnderName } from './find.ts';
import { positionOf, tasksOf } from './list.ts';

const PAYER = {
  nullable: true,
  description: `What X-SVC-Payer holds: \`<network>:<wallet>:<unix_seconds>:<signature>\`, signed within ${limits.wallet_signature_age_seconds_max} seconds.`,
} as const;

const { tasks_page_default, tasks_page_max } = buyerLimits;
const TASKS_LIMIT = pageLimitWords({
  of: 'tasks',
  default: tasks_page_default,
  max: tasks_page_max,
  beyond: 'refused',
});

/** What buyers are shown of their tasks, and others of the same. */
@Resolver(() => BoughtTask)
export class BoughtTaskResolver {
  @Query(() => BoughtTask, { nullable: true, description: 'Where a task stands; to its buyer also what it brought.' })
  async boughtTask(
    @Arg('taskId', () => String, { description: 'The task, or an answer to it.' }) named: string,
    @Arg('payer', () => String, PAYER) payer: string | null,
    @Ctx() context: ReceiptContext,
  ): Promise<BoughtTask | null> {
    const buyer = await buyerOf(payer ?? null, context);
    if (!isOfferName(named))
      return foundUnlessHalted(context.database, await found(taskNamedBy(named), buyer, context));
    const task_id = foundUnlessHalted(context.database, await taskUnderName(context, named, buyer));
    return task_id === null ? null : foundUnlessHalted(context.database, await found(task_id, buyer, context, named));
  }

  @Directive(pageByLimit(tasks_page_default, 'tasks'))
  @Query(() => BoughtTasks, {
    description:
      'What the caller’s wallets and live key have bought, and what landed on their book; also what came to nothing.',
  })
  async boughtTasks(
    @Arg('payer', () => String, PAYER) payer: string | null,
    @Arg('contextId', () => String, { nullable: true, description: 'Of this intent or offer alone.' }) context_id:
      | string
      | null,
    @Arg('states', () => [TaskStateWord], { nullable: true, description: 'Only those that stand so.' })
    states: TaskState[] | null,
    @Arg('since', () => DateTimeScalar, { nullable: true, description: 'That have moved then or later.' })
    since: Date | null,
    @Arg('before', () => String, { nullable: true, description: 'Behind the page that said so: see `next`.' })
    before: string | null,
    @Arg('limit', () => Int, { nullable: true, description: TASKS_LIMIT }) limit: number | null,
    @Ctx() context: ReceiptContext,
  ): Promise<BoughtTasks> {
    const count = limit ?? tasks_page_default;
    if (count < 1 || count > tasks_page_max)
      throw new Refusal('invalid_request', { param: 'limit', detail: `limit is from 1 to ${tasks_page_max}.` });
    if (before && positionOf(before) === null)
      throw new Refusal('invalid_request', { param: 'before', detail: 'before is of no page.' });
    const buyer = requireSomebody(await buyerOf(payer ?? null, context));
    const offer = context_id && isOfferName(context_id) ? await tasksOfOffer(context, context_id, buyer) : null;
    const asked = {
      context_ids: context_id ? [context_id, ...(offer?.all ?? [])] : null,
      states: states ?? null,
      since: since ?? null,
      before: before ?? null,
    };
    const page = await tasksOf(context.database, buyer, { ...asked, count });
    const names = await offerNames(
      context,
      page.tasks.flatMap(({ task_id, intent_id }) => (intent_id === null ? [task_id] : [])),
    );
    const tasks = page.tasks.map(({ task_id, intent_id, ...task }) => {
      const named = task_id === offer?.bought ? context_id : names.get(task_id);
      return boughtTask({ ...task, taskId: task_id, contextId: intent_id ?? named ?? task_id, isBuyers: true });
    });
    return { ...page, tasks };
  }

  @Mutation(() => BoughtTask, {
    nullable: true,
    description: 'Lets go of a task before its payment is sent; for its buyer. Null where there is none.',
  })
  async cancelTask(
    @Arg('taskId', () => String, { description: 'The task.' }) named: string,
    @Arg('payer', () => String, PAYER) payer: string | null,
    @Ctx() context: ReceiptContext,
  ): Promise<BoughtTask | null> {
    requireNotHalted(context.database);
    const task_id = taskNamedBy(named);
    const task = await found(task_id, requireSomebody(await buyerOf(payer ?? null, context)), context);
    if (task === null) return null;
    if (!task.isBuyers) throw new Refusal('not_a_party');
    if (task.state === 'canceled') return task;
    if (task.state !== 'working' || !(await context.cancelTask(task_id))) throw new Refusal('task_not_cancelable');
    return boughtTask({ ...task, state: 'canceled', at: new Date(context.clock.now_ms()) });
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, {
    nullable: true,
    description: 'What it brought, for its buyer alone and for as long as it is kept; null elsewhere.',
  })
  async answer(@Root() task: BoughtTask, @Ctx() context: ReceiptContext): Promise<JsonObject | null> {
    const facts = await shown(task, context);
    return facts?.receipt && isWork(facts) ? openAnswer(context.vault, task.taskId, facts) : null;
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Its receipt, as GET /receipt/{task_id} shows it; for its buyer alone.',
  })
  async receiptDocument(@Root() task: BoughtTask, @Ctx() context: ReceiptContext): Promise<JsonObject | null> {
    const receipt = (await shown(task, context))?.receipt;
    return receipt ? receiptDocument(receipt, context.base_url, context.profile, context.newestSize()) : null;
  }
}

/** By what was looked up for it, so that one task is looked up once. */
const known = new WeakMap<BoughtTask, Promise<TaskFacts | null>>();

function shown(task: BoughtTask, { database }: ReceiptContext): Promise<TaskFacts | null> {
  if (!task.isBuyers) return Promise.resolve(null);
  const facts = known.get(task) ?? taskFacts(database, task.taskId);
  known.set(task, facts);
  return facts;
}

const boughtTask = (members: BoughtTask): BoughtTask => Object.assign(new BoughtTask(), members);

/** `offer`: the name by which it was asked for. */
async function found(
  task_id: string,
  buyer: ProvenBuyer,
  context: ReceiptContext,
  offer: string | null = null,
): Promise<BoughtTask | null> {
  const [standing, facts] = await Promise.all([context.findTask(task_id), taskFacts(context.database, task_id)]);
  const status = taskUnlessHalted(context.database, standing);
  if (status === null) return null;
  const mine = facts !== null && isBuyers(facts, buyer);
  // An intent is public with the receipt that signs it, and not before.
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

/** What stamps have brought may hold a secret that is told once: it is no answer to a task. */
const isWork = ({ receipt }: TaskFacts): boolean =>
  receipt !== null && (JSON.parse(receipt.payload) as { job_kind?: string }).job_kind === 'completions';

/** @throws unauthenticated */
function requireSomebody(buyer: ProvenBuyer): ProvenBuyer {
  if (isNobody(buyer)) throw new Refusal('unauthenticated');
  return buyer;
}
