import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { taskListing } from '../../../schema/task-listing.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import type { DocumentDoor } from '../../door.ts';
import type { Answer } from '../../problem.ts';
import { answerWith, type Calling, readBody, refusedCall, resultOf, toldTask } from './calling.ts';
import { echoOf } from './extension.ts';
import { A2aFault } from './faults.ts';
import { validParams } from './message.ts';
import { type Offered, openOffered, waiting } from './offer.ts';
import { a2aStates, a2aTask, isTerminal, type ShownAs } from './task.ts';
import { cancelTask, getTask, listTasks, watchTask } from './task-doors.ts';
import { eventHeaders, framed } from './task-events.ts';

/* GetTask, ListTasks, CancelTask and SubscribeToTask: free, and each shows no more than its caller has bought. */

const length = z.int().min(0).nullish();
const Named = z.object({ id: z.string().min(1), historyLength: length });

/** What a door of ours has answered about a task, or what it refused with. */
type Found = { readonly kind: 'found'; readonly task: JsonObject; readonly headers: Answer['headers'] } | Refusing;
interface Refusing {
  readonly kind: 'refused';
  readonly answer: Answer;
}

async function ask({ request, house }: Calling, door: DocumentDoor, body: JsonObject): Promise<Found> {
  const answer = (await callDoor(door, { ...request, body: readBody(body) }, house)) as Answer;
  if (answer.status !== 200) return { kind: 'refused', answer };
  const { 'content-type': _type, 'cache-control': _cache, ...headers } = answer.headers;
  return { kind: 'found', task: JSON.parse(String(answer.body)) as JsonObject, headers };
}

/** A task by its id, or by the id under which it was offered; an offered one that nobody has bought is told by itself. */
type Meant =
  | { readonly kind: 'task'; readonly task_id: string; readonly shown: Partial<ShownAs> }
  | { readonly kind: 'unpaid'; readonly offered: Offered };

async function meant(calling: Calling, id: string): Promise<Meant> {
  const offered = openOffered(calling, id);
  if (offered === null) return { kind: 'task', task_id: id, shown: {} };
  const task_id = await boughtUnder(calling, offered);
  if (task_id !== null) return { kind: 'task', task_id, shown: offered };
  if (offered.lapsed) throw notFound(id);
  return { kind: 'unpaid', offered };
}

/** The task that was bought under that name; null where there is none, or what was begun has come to nothing. */
async function boughtUnder({ house, request }: Calling, { name }: Offered): Promise<string | null> {
  const door = house.doors.find(row => row.name === 'get_settlement');
  if (!door) return null;
  const asked = { ...request, method: 'GET', params: { payment_id: name }, query: {}, body: null };
  const { status, body } = await callDoor({ ...door, rated: false }, asked, house);
  const { task_id, state } = status === 200 ? (JSON.parse(String(body)) as JsonObject) : {};
  return typeof task_id === 'string' && state !== 'released' && state !== 'failed' ? task_id : null;
}

const notFound = (id: string) => new A2aFault('task_not_found', undefined, id.length > 128 ? undefined : 'id');

export async function tellTask(calling: Calling): Promise<Answer> {
  const { id, historyLength = null } = validParams(Named, calling.call.params);
  const task = await meant(calling, id);
  if (task.kind === 'unpaid') return toldTask(calling, waiting(task.offered), {});
  const found = await ask(calling, getTask, { task_id: task.task_id });
  if (found.kind === 'refused') return refusedCall(calling, found.answer);
  return toldTask(calling, a2aTask(found.task, task.shown, historyLength), found.headers);
}

export async function tellCanceled(calling: Calling): Promise<Answer> {
  const { id } = validParams(Named, calling.call.params);
  const task = await meant(calling, id);
  if (task.kind === 'unpaid')
    throw new A2aFault('task_not_cancelable', 'Nothing is held for it: unpaid it lapses by itself.');
  const found = await ask(calling, cancelTask, { task_id: task.task_id });
  if (found.kind === 'refused') return refusedCall(calling, found.answer);
  return toldTask(calling, a2aTask(found.task, task.shown), found.headers);
}

const Listing = z.object({
  contextId: z.string().nullish(),
  status: z.string().nullish(),
  pageSize: z.int().min(1).max(taskListing.most).nullish(),
  pageToken: z.string().nullish(),
  historyLength: length,
  statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
  includeArtifacts: z.boolean().nullish(),
});

/** In which states of ours a task of that state stands; some of A2A's have none. */
function statesOf(status: string | null | undefined): TaskState[] | null {
  if (!status || status === 'TASK_STATE_UNSPECIFIED') return null;
  if (!/^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/.test(status))
    throw new A2aFault('invalid_params', 'There is no such state.', 'status');
  return (Object.keys(a2aStates) as TaskState[]).filter(state => a2aStates[state] === status);
}

export async function tellTasks(calling: Calling): Promise<Answer> {
  const asked = validParams(Listing, calling.call.params);
  const artifacts = asked.includeArtifacts ?? false;
  const found = await ask(calling, listTasks, {
    context_id: asked.contextId || null,
    states: statesOf(asked.status),
    since: asked.statusTimestampAfter ?? null,
    before: asked.pageToken || null,
    limit: asked.pageSize ?? taskListing.usual,
    artifacts,
  });
  if (found.kind === 'refused') return refusedCall(calling, found.answer);
  const { tasks, total, next } = found.task;
  const listed = (tasks as readonly JsonObject[]).map(task => {
    const whole = a2aTask(task, {}, asked.historyLength);
    return artifacts ? { artifacts: [], ...whole } : whole;
  });
  const page = { tasks: listed, nextPageToken: next ?? '', pageSize: listed.length, totalSize: total ?? 0 };
  return answerWith(calling, page, found.headers);
}

/** For how long a task is followed, and how often it is looked at: none is under way for longer. */
const WATCH_MS_MAX = 300_000;
const LOOK_MS = 500;

/** @throws A2aFault unsupported_operation where nothing more will come of it */
export async function followTask(calling: Calling): Promise<DoorOutcome> {
  const { id } = validParams(Named, calling.call.params);
  const task = await meant(calling, id);
  if (task.kind === 'unpaid') throw new A2aFault('unsupported_operation', 'It is not paid for: nothing is under way.');
  const found = await ask(calling, getTask, { task_id: task.task_id });
  if (found.kind === 'refused') return refusedCall(calling, found.answer);
  if (found.task.is_buyers !== true) return refusedCall(calling, unproven(calling));
  if (isTerminal(found.task.state as TaskState))
    throw new A2aFault('unsupported_operation', 'The task has come to its end.');
  return {
    status: 200,
    headers: { ...found.headers, ...eventHeaders, ...echoOf(calling.extension, calling.request.headers) },
    body: framed(calling.call.id, watched(calling, task.task_id, found.task, task.shown)),
  };
}

/** Whoever shows nothing is asked to; whoever shows what is another's is not let in. */
function unproven({ request: { headers } }: Calling): Answer {
  const shows = ['x-svc-session', 'x-svc-payer', 'x-api-key', 'authorization'].some(
    name => headers[name] !== undefined,
  );
  return { status: shows ? 403 : 401, headers: { 'cache-control': 'no-store' }, body: null };
}

/** The task as it stands, each state that it comes to, and at its end what it brought. */
async function* watched(
  calling: Calling,
  task_id: string,
  begun: JsonObject,
  shown: Partial<ShownAs>,
): AsyncGenerator<JsonObject> {
  const result = (event: JsonObject) => ({ result: resultOf(calling, event) });
  yield result({ task: a2aTask(begun, shown) });
  let state = begun.state;
  for (let waited_ms = 0; waited_ms < WATCH_MS_MAX; waited_ms += LOOK_MS) {
    await sleep(LOOK_MS);
    const found = await ask(calling, watchTask, { task_id });
    if (found.kind === 'refused') return;
    if (found.task.state === state) continue;
    state = found.task.state;
    const { id, contextId, status, artifacts = [], metadata = {} } = a2aTask(found.task, shown);
    const of_task = { taskId: id ?? null, contextId: contextId ?? null };
    for (const artifact of artifacts as readonly JsonObject[])
      yield result({ artifactUpdate: { ...of_task, artifact, lastChunk: true } });
    yield result({ statusUpdate: { ...of_task, status: status ?? {}, metadata } });
    if (isTerminal(state as TaskState)) return;
  }
}

/** Why a message cannot go on with a task that was not offered. @throws A2aFault task_not_found, unsupported_operation */
export async function refuseTask(calling: Calling, task_id: string): Promise<Answer> {
  const found = await ask(calling, getTask, { task_id });
  // What can be the id of no task is that of none.
  if (found.kind === 'refused' && ![400, 404].includes(found.answer.status)) return refusedCall(calling, found.answer);
  if (found.kind === 'found') throw new A2aFault('unsupported_operation', 'The task takes no further message.');
  throw new A2aFault('task_not_found', undefined, 'message.taskId');
}
