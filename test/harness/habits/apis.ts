import { camel } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { onGraph } from '../doors/on-graph.ts';
import type { ReceiptBody, Service } from '../doors/open-service.ts';
import type { openSocket } from '../doors/socket.ts';
import { messages } from './stand-in.ts';

/*
 * Every way in which this service sells a model's answer: three APIs, whole and streamed, by REST and on the graph. The outcome of a call
 * is one line that is the same in each way; test/harness/habits/answer-rows.ts has the expected ones.
 */

const KEY = 'a-live-key';
const byKey = { Authorization: `Bearer ${KEY}` };

/** The parts of an answer that all APIs have. */
interface AnswerParts {
  readonly text: string;
  readonly thought: string;
  /** The finish reason in the values of the chat API. Null if the answer has none. */
  readonly finish: string | null;
  readonly svc: ReceiptBody | undefined;
}

/** Request and answer of one API, with members named as in JSON. Documents of the graph rename fields to match. */
interface Api {
  readonly request: JsonObject;
  readonly paths: readonly string[];
  readonly field: string;
  readonly streamed_field: string;
  readonly input: string;
  /** Fields that the graph selects of a whole answer. `selected_of_event` has those of an event. */
  readonly selected: string;
  readonly selected_of_event: string;
  whole(answer: JsonObject): AnswerParts;
  streamed(events: readonly JsonObject[]): AnswerParts;
}

type Delta = {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  reasoning_content?: string | null;
};
const textOf = ({ content }: Delta) => content ?? '';
const thoughtOf = ({ reasoning_content, reasoning }: Delta) => reasoning_content ?? reasoning ?? '';
const SAID = 'content reasoning reasoning_content: reasoningContent';

type Choice = { readonly finish_reason?: string | null; readonly message?: Delta; readonly delta?: Delta };
const choicesIn = ({ choices = [] }: JsonObject) => choices as unknown as readonly Choice[];
const svcIn = (events: readonly JsonObject[]) => events.findLast(({ svc }) => svc)?.svc as ReceiptBody | undefined;
const joined = (pieces: readonly unknown[]) => pieces.join('');
const member = (value: unknown, name: string) => (value as Readonly<Record<string, unknown>> | undefined)?.[name];

const chat: Api = {
  request: { model: 'alpha-1', messages, max_tokens: 64 },
  paths: ['/v1/chat/completions', '/a2a-message'],
  field: 'createChatCompletion',
  streamed_field: 'chatCompletionStream',
  input: 'ChatCompletionInput',
  selected: `choices { message { ${SAID} } finish_reason: finishReason } svc`,
  selected_of_event: `choices { delta { ${SAID} } finish_reason: finishReason } svc`,
  whole(answer) {
    const [{ message = {}, finish_reason = null } = {}] = choicesIn(answer);
    return { text: textOf(message), thought: thoughtOf(message), finish: finish_reason, svc: svcIn([answer]) };
  },
  streamed(events) {
    const choices = events.flatMap(choicesIn);
    const deltas = choices.map(({ delta = {} }) => delta);
    const finish = choices.findLast(({ finish_reason }) => finish_reason)?.finish_reason ?? null;
    return { text: joined(deltas.map(textOf)), thought: joined(deltas.map(thoughtOf)), finish, svc: svcIn(events) };
  },
};

const responseEnds: Readonly<Record<string, string>> = { completed: 'stop', max_output_tokens: 'length' };
function responseEnd({ status, incomplete_details }: JsonObject): string | null {
  return responseEnds[String(member(incomplete_details ?? undefined, 'reason') ?? status)] ?? null;
}

const responses: Api = {
  request: { model: 'alpha-1', input: messages, max_output_tokens: 64 },
  paths: ['/v1/responses'],
  field: 'createResponse',
  streamed_field: 'responseStream',
  input: 'ResponseInput',
  selected: 'status incomplete_details: incompleteDetails { reason } output { type content { text } } svc',
  selected_of_event: 'event',
  whole(answer) {
    const items = answer.output as unknown as {
      readonly type: string;
      readonly content: { readonly text: string }[];
    }[];
    const textIn = (type: string) =>
      joined(items.flatMap(item => (item.type === type ? item.content.map(({ text }) => text) : [])));
    const svc = svcIn([answer]);
    return { text: textIn('message'), thought: textIn('reasoning'), finish: responseEnd(answer), svc };
  },
  streamed(events) {
    const deltas = (type: string) => joined(events.flatMap(event => (event.type === type ? [event.delta] : [])));
    const last = events.findLast(({ response }) => response)?.response as JsonObject | undefined;
    return {
      text: deltas('response.output_text.delta'),
      thought: deltas('response.reasoning_text.delta'),
      finish: last ? responseEnd(last) : null,
      svc: last && svcIn([last]),
    };
  },
};

const messageEnds: Readonly<Record<string, string>> = { end_turn: 'stop', max_tokens: 'length' };
const blocksIn = (blocks: unknown, type: string, name: string) =>
  joined((blocks as readonly JsonObject[]).flatMap(block => (block.type === type ? [block[name]] : [])));

const anthropic: Api = {
  request: { model: 'alpha-1', messages, max_tokens: 2_048, thinking: { type: 'enabled', budget_tokens: 1_024 } },
  paths: ['/v1/messages'],
  field: 'createMessage',
  streamed_field: 'messageStream',
  input: 'MessageInput',
  selected: 'content stop_reason: stopReason svc',
  selected_of_event: 'event',
  whole(answer) {
    const { content, stop_reason } = answer;
    const finish = messageEnds[String(stop_reason)] ?? null;
    const thought = blocksIn(content, 'thinking', 'thinking');
    return { text: blocksIn(content, 'text', 'text'), thought, finish, svc: svcIn([answer]) };
  },
  streamed(events) {
    const deltas = events.flatMap(({ delta }) => (delta ? [delta] : []));
    const reason = deltas.map(delta => member(delta, 'stop_reason')).find(Boolean);
    return {
      text: blocksIn(deltas, 'text_delta', 'text'),
      thought: blocksIn(deltas, 'thinking_delta', 'thinking'),
      finish: messageEnds[String(reason)] ?? null,
      svc: svcIn(events),
    };
  },
};

const apis = [chat, responses, anthropic];

/** One way to get an answer. */
interface Way {
  readonly name: string;
  readonly streams: boolean;
  /** Makes the call. Returns its outcome on one line. */
  ask(service: Service, socket: ReturnType<typeof openSocket>): Promise<string>;
}

export const ways: readonly Way[] = apis.flatMap(api => [
  ...api.paths.flatMap(path => [false, true].map(stream => byRest(api, path, stream))),
  wholeOnGraph(api),
  streamedOnGraph(api),
]);

/** The paths and the fields that stream a model's answer. */
export const streaming = {
  paths: apis.flatMap(({ paths }) => paths),
  fields: apis.map(({ streamed_field }) => streamed_field),
} as const;

function byRest({ request, whole, streamed }: Api, path: string, stream: boolean): Way {
  return {
    name: `POST ${path}, ${stream ? 'streamed' : 'whole'}`,
    streams: stream,
    async ask({ url }) {
      const headers = { 'content-type': 'application/json', ...byKey };
      const body = JSON.stringify(stream ? { ...request, stream } : request);
      const answer = await fetch(url + path, { method: 'POST', headers, body });
      const text = await answer.text();
      if (!answer.ok)
        return refusedLine({ ...JSON.parse(text), status: answer.status }, answer.headers.get('retry-after'));
      return stream ? streamedLine(eventsIn(text), streamed) : saidLine(whole(JSON.parse(text)));
    },
  };
}

function eventsIn(text: string): JsonObject[] {
  const data = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, event = '']) => event);
  return data.map(event => JSON.parse(event));
}

const inputOf = ({ request }: Api) =>
  Object.fromEntries(Object.entries(request).map(([name, it]) => [camel(name), it]));

function wholeOnGraph(api: Api): Way {
  const { field, input, selected, whole } = api;
  const query = `mutation ($input: ${input}!) { answer: ${field}(input: $input) { ${selected} } }`;
  return {
    name: field,
    streams: false,
    async ask(service) {
      const variables = { input: inputOf(api) };
      const { data, refused } = await onGraph<{ answer: JsonObject }>(service, query, variables, byKey);
      return data ? saidLine(whole(data.answer)) : refusedOnGraph(refused);
    },
  };
}

function streamedOnGraph(api: Api): Way {
  const { streamed_field, input, selected_of_event, streamed } = api;
  const query = `subscription ($input: ${input}!) { answer: ${streamed_field}(input: $input) { ${selected_of_event} } }`;
  return {
    name: streamed_field,
    streams: true,
    async ask(_, socket) {
      const results = await socket.all(query, { input: inputOf(api) });
      const [first, ...others] = results;
      if (others.length === 0 && first?.errors) return refusedOnGraph(first.errors[0]?.extensions as JsonObject);
      const events = results.map(({ data, errors }) => {
        if (errors) return { error: { ...errors[0]?.extensions } } as JsonObject;
        const answer = data?.answer as JsonObject;
        return (answer.event ?? answer) as JsonObject;
      });
      return streamedLine(events, streamed);
    },
  };
}

function refusedOnGraph(refused: JsonObject | null | undefined): string {
  const { retry_after_seconds: wait } = refused ?? {};
  return refusedLine(refused ?? {}, wait === undefined ? null : String(wait));
}

/** Formats a refusal as `status code wait 7`, with the seconds after which the caller may retry. */
function refusedLine({ status, code, charged }: JsonObject, wait: string | null): string {
  return lineOf(`${status} ${code}`, wait && `wait ${wait}`, charged !== false && 'charged');
}

/** Formats an answer as `"text" [reasoning] finish as MODEL`, and checks that its receipt commits to it. */
function saidLine(said: AnswerParts): string {
  return lineOf(wordsOf(said), said.finish, receiptOf(said, 'committed'));
}

/** Formats a stream. One that broke off is `code after "text" [reasoning] as MODEL`, and its receipt must not commit to any of it. */
function streamedLine(events: readonly JsonObject[], streamed: Api['streamed']): string {
  const said = streamed(events.filter(({ error }) => !error));
  const fault = events.find(({ error }) => error)?.error;
  if (!fault) return saidLine(said);
  const ended = said.finish && `and yet ${said.finish}`;
  return lineOf(`${member(fault, 'code')} after`, wordsOf(said), ended, receiptOf(said, 'UNVERIFIED'));
}

const wordsOf = ({ text, thought }: AnswerParts) => lineOf(JSON.stringify(text), thought && `[${thought}]`);

function receiptOf({ svc }: AnswerParts, status: 'committed' | 'UNVERIFIED'): string | null {
  if (svc?.waived_by !== 'live_key') return 'without a receipt';
  const { fulfillment } = svc.payload as { readonly fulfillment: { readonly output_commitment: JsonObject } };
  const { output_commitment } = fulfillment;
  const committed = output_commitment.status !== status && `${output_commitment.status}`;
  return lineOf(svc.answered_model ? `as ${svc.answered_model}` : null, committed);
}

const lineOf = (...parts: readonly (string | false | null)[]) => parts.filter(Boolean).join(' ');
