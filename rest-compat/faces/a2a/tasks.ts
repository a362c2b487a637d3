import { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { a2aLimits, buyerLimits } from '../../../schema/limits.ts';
import { TASKS_PAGE_TOKEN, type TaskState } from '../../../schema/task-state.ts';
import { callDoor } from '../../call.ts';
import type { DocumentDoor } from '../../door.ts';
import type { Answer } from '../../problem.ts';
import { A2aFault } from './faults.ts';
import { validParams } from './message.ts';
import { answerWith, type MethodCall, readBody, refuseCall, taskAnswer } from './method-call.ts';
import { inputRequiredTask, openUnpaidTask, type UnpaidTask } from './offer.ts';
import { a2aStates, a2aTask, type TaskIds } from './task.ts';
import { cancelTask, getMessageTask, getTask, listTasks } from './task-doors.ts';

/* GetTask, ListTasks and CancelTask. They are free, and show only tasks of the caller. */

const length = z.int().min(0).nullish();
const TaskParams = z.object({ id: z.string().min(1), historyLength: length });

/** A task as returned by an endpoint, or its refusal. */
type LookUpOutcome =
  | { readonly kind: 'found'; readonly task: JsonObject; readonly headers: Answer['headers'] }
  | RefusedLookUp;
interface RefusedLookUp {
  readonly kind: 'refused';
  readonly answer: Answer;
}

export async function lookUpTask(
  { request, layer }: MethodCall,
  door: DocumentDoor,
  body: JsonObject,
): Promise<LookUpOutcome> {
  const answer = (await callDoor(door, { ...request, body: readBody(body) }, layer)) as Answer;
  if (answer.status !== 200) return { kind: 'refused', answer };
  const { 'content-type': _type, 'cache-control': _cache, ...headers } = answer.headers;
  return { kind: 'found', task: JSON.parse(String(answer.body)) as JsonObject, headers };
}

/** A task by its id or the id of its offer, or an offer that has not been paid. */
type RequestedTask =
  | (Extract<LookUpOutcome, { kind: 'found' }> & { readonly shown: Partial<TaskIds>; readonly history: number | null })
  | { readonly kind: 'unpaid'; readonly offered: UnpaidTask }
  | RefusedLookUp;

/** @throws A2aFault invalid_params; task_not_found if the offer has expired */
export async function requestedTask(method_call: MethodCall): Promise<RequestedTask> {
  const { id, historyLength = null } = validParams(TaskParams, method_call.call.params);
  const offered = openUnpaidTask(method_call, id);
  const too_long = id.length > a2aLimits.task_id_chars_max;
  // An altered offer id is invalid, and too long for a task id.
  if (offered === null && too_long) throw new A2aFault('task_not_found', undefined, 'id');
  const found = await lookUpTask(method_call, getTask, { task_id: offered?.name ?? id });
  if (found.kind === 'found') return { ...found, shown: offered ?? {}, history: historyLength };
  // Only a 404 means that the offer is unpaid; any other refusal may be about a paid task.
  if (offered === null || found.answer.status !== 404) return found;
  if (offered.lapsed) throw new A2aFault('task_not_found', undefined, too_long ? undefined : 'id');
  return { kind: 'unpaid', offered };
}

export async function answerGetTask(method_call: MethodCall): Promise<Answer> {
  const requested = await requestedTask(method_call);
  if (requested.kind === 'refused') return refuseCall(method_call, requested.answer);
  if (requested.kind === 'unpaid') return taskAnswer(method_call, inputRequiredTask(requested.offered), {});
  return taskAnswer(method_call, a2aTask(requested.task, requested.shown, requested.history), requested.headers);
}

export async function answerCancelTask(method_call: MethodCall): Promise<Answer> {
  const requested = await requestedTask(method_call);
  if (requested.kind === 'refused') return refuseCall(method_call, requested.answer);
  if (requested.kind === 'unpaid')
    throw new A2aFault(
      'task_not_cancelable',
      'The task is not paid, so there is nothing to cancel. It expires by itself.',
    );
  const found = await lookUpTask(method_call, cancelTask, { task_id: requested.task.task_id ?? null });
  if (found.kind === 'refused') return refuseCall(method_call, found.answer);
  return taskAnswer(method_call, a2aTask(found.task, requested.shown), found.headers);
}

const ListParams = z.object({
  contextId: z.string().nullish(),
  status: z.string().nullish(),
  pageSize: z.int().min(1).max(buyerLimits.tasks_page_max).nullish(),
  pageToken: z
    .string()
    .refine(token => token === '' || TASKS_PAGE_TOKEN.test(token), { error: 'is not a nextPageToken of ListTasks' })
    .nullish(),
  historyLength: length,
  statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
  includeArtifacts: z.boolean().nullish(),
});

/** The states of this service for a state of A2A. Some states of A2A have none. */
function statesOf(status: string | null | undefined): TaskState[] | null {
  if (!status || status === 'TASK_STATE_UNSPECIFIED') return null;
  if (!/^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/.test(status))
    throw new A2aFault('invalid_params', 'status is not a task state of A2A, such as TASK_STATE_WORKING.', 'status');
  return (Object.keys(a2aStates) as TaskState[]).filter(state => a2aStates[state] === status);
}

export async function answerListTasks(method_call: MethodCall): Promise<Answer> {
  const params = validParams(ListParams, method_call.call.params);
  const artifacts = params.includeArtifacts ?? false;
  const pageSize = params.pageSize ?? buyerLimits.tasks_page_default;
  const found = await lookUpTask(method_call, listTasks, {
    context_id: params.contextId || null,
    states: statesOf(params.status),
    since: params.statusTimestampAfter ?? null,
    before: params.pageToken || null,
    limit: pageSize,
    artifacts,
  });
  if (found.kind === 'refused') return refuseCall(method_call, found.answer);
  const { tasks, total, next } = found.task;
  const listed = (tasks as readonly JsonObject[]).map(task => {
    const whole = a2aTask(task, {}, params.historyLength);
    return artifacts ? { artifacts: [], ...whole } : whole;
  });
  // The page size that was applied, not the number of tasks (§3.1.4).
  const page = { tasks: listed, nextPageToken: next ?? '', pageSize, totalSize: total ?? 0 };
  return answerWith(method_call, page, found.headers);
}

/**
 * Why a message cannot continue a task that was not offered, or whose offer has expired (`detail`).
 * @throws A2aFault task_not_found, unsupported_operation
 */
export async function refuseTask(method_call: MethodCall, task_id: string, detail?: string): Promise<Answer> {
  const found = await lookUpTask(method_call, getMessageTask, { task_id });
  // An invalid id is answered like an unknown one.
  if (found.kind === 'refused' && ![400, 404].includes(found.answer.status))
    return refuseCall(method_call, found.answer);
  if (found.kind === 'found')
    throw new A2aFault(
      'unsupported_operation',
      'The task accepts no further messages. Send the message without a taskId to start a new one.',
    );
  throw new A2aFault('task_not_found', detail, 'message.taskId');
}
