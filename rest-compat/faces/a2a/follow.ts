import { setTimeout as sleep } from 'node:timers/promises';
import { holderOf } from '../../../schema/address-holder.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { a2aLimits } from '../../../schema/limits.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import type { DoorOutcome } from '../../call.ts';
import type { Port } from '../../port.ts';
import { type Answer, problem } from '../../problem.ts';
import { echoOf } from './extension.ts';
import { A2aFault, refusalOf } from './faults.ts';
import { type MethodCall, refuseCall, resultOf } from './method-call.ts';
import { a2aTask, isTerminal, type TaskIds } from './task.ts';
import { getTask } from './task-doors.ts';
import { eventHeaders, frameRpcEvents } from './task-events.ts';
import { lookUpTask, requestedTask } from './tasks.ts';

/* SubscribeToTask: polls a task for as long as its subscriber is connected. */

/** How long a task is followed, and how often it is read. No task takes longer. */
const FOLLOW_MS_MAX = 300_000;
const POLL_MS = 500;

/** Number of followed tasks by address. The port is the same object for as long as the service runs. */
const followCounts = new WeakMap<Port, Map<string, number>>();

/** Reserves one subscription. Null if the address has too many. The result releases it. */
function reserveFollow(port: Port, address: string): (() => void) | null {
  const counts = followCounts.get(port) ?? new Map<string, number>();
  followCounts.set(port, counts);
  const holder = holderOf(address);
  const count = counts.get(holder) ?? 0;
  if (count >= a2aLimits.followed_per_address_max) return null;
  counts.set(holder, count + 1);
  return () => {
    const left = (counts.get(holder) ?? 0) - 1;
    if (left > 0) counts.set(holder, left);
    else counts.delete(holder);
  };
}

/** @throws A2aFault unsupported_operation if the task will not change */
export async function followTask(method_call: MethodCall): Promise<DoorOutcome> {
  const { call, extension, request, layer } = method_call;
  const requested = await requestedTask(method_call);
  if (requested.kind === 'refused') return refuseCall(method_call, requested.answer);
  if (requested.kind === 'unpaid')
    throw new A2aFault('unsupported_operation', 'The task is not paid yet, so it has not started.');
  const { task, shown, headers } = requested;
  if (task.is_buyers !== true) return refuseCall(method_call, refuseUnproven(method_call));
  if (isTerminal(task.state as TaskState))
    throw new A2aFault('unsupported_operation', 'The task has already ended. Use GetTask to read its result.');
  const release = reserveFollow(layer.port, request.address);
  if (release === null) return refuseCall(method_call, tooManyFollowed);
  return {
    status: 200,
    headers: { ...headers, ...eventHeaders, ...echoOf(extension, request.headers) },
    body: endOnDisconnect(release, signal => frameRpcEvents(call.id, pollTask(method_call, task, shown, signal))),
  };
}

const tooManyFollowed: Answer = problem({
  code: 'rate_limited',
  message: `This address already follows ${a2aLimits.followed_per_address_max} tasks, the maximum. End one of these subscriptions first.`,
});

/** 401 without credentials, 403 if they are of another buyer. */
function refuseUnproven({ request: { headers } }: MethodCall): Answer {
  const shows = ['x-svc-session', 'x-svc-payer', 'x-api-key', 'authorization'].some(
    name => headers[name] !== undefined,
  );
  return { status: shows ? 403 : 401, headers: { 'cache-control': 'no-store' }, body: null };
}

/**
 * Events that end at once when their reader disconnects. A generator alone would wait for its next event, which on a task that does not
 * change is minutes away.
 */
function endOnDisconnect(
  left: () => void,
  eventsUntil: (signal: AbortSignal) => AsyncGenerator<string>,
): AsyncIterableIterator<string> {
  const leaving = new AbortController();
  leaving.signal.addEventListener('abort', left, { once: true });
  const events = eventsUntil(leaving.signal);
  const leave = () => {
    leaving.abort();
    return events.return(undefined);
  };
  return {
    async next() {
      try {
        const event = await events.next();
        if (event.done) leaving.abort();
        return event;
      } catch (fault) {
        leaving.abort();
        throw fault;
      }
    },
    return: leave,
    throw: leave,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * The task, each further state, and at the end its result. The subscriber has already proven to be the buyer, so until then the task is
 * read without credentials, as anyone may, to avoid verifying the proof on each read.
 */
async function* pollTask(
  method_call: MethodCall,
  begun: JsonObject,
  shown: Partial<TaskIds>,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const anybody: MethodCall = { ...method_call, request: { ...method_call.request, headers: {} } };
  const body = { task_id: begun.task_id ?? null };
  const task = a2aTask(begun, shown);
  const result = (event: JsonObject) => ({ result: resultOf(method_call, event) });
  const named = { id: String(task.id), context_id: String(task.contextId) };
  yield result({ task });
  let state = begun.state;
  let why: Answer = tooLong;
  for (let waited_ms = 0; waited_ms < FOLLOW_MS_MAX; waited_ms += POLL_MS) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const look = await lookUpTask(anybody, getTask, body);
    if (look.kind === 'refused') {
      why = look.answer;
      if (isTransient(why)) continue;
      break;
    }
    why = tooLong;
    if (look.task.state === state) continue;
    const ended = isTerminal(look.task.state as TaskState);
    const final = ended ? await lookUpTask(method_call, getTask, body) : look;
    if (final.kind === 'refused' && isTransient(final.answer)) continue;
    // A signature expires. In that case the subscriber only receives the final state, and has to sign again for the result.
    const current = final.kind === 'found' ? final.task : look.task;
    state = current.state;
    for (const update of updatesOf(a2aTask(current, named))) yield result(update);
    if (ended) return;
  }
  yield { error: { ...refusalOf(why) } };
}

function updatesOf({ id, contextId, status, artifacts = [], metadata = {} }: JsonObject): JsonObject[] {
  const of_task = { taskId: id ?? null, contextId: contextId ?? null };
  const final = (artifacts as readonly JsonObject[]).map(artifact => ({
    artifactUpdate: { ...of_task, artifact, lastChunk: true },
  }));
  return [...final, { statusUpdate: { ...of_task, status: status ?? {}, metadata } }];
}

const isTransient = ({ status }: Answer): boolean => status === 429 || status >= 500;

const tooLong: Answer = problem({
  code: 'unavailable',
  message: 'The subscription has reached its maximum duration and the task has not ended. Subscribe again.',
});
