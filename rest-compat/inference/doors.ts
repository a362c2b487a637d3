import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { A2aMessage } from '../../schema/requests/a2a-message.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { ResponsesRequest } from '../../schema/requests/responses.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { chatFrames, namedFrames } from '../media/sse.ts';
import { bare } from '../omit-nulls.ts';
import { ChatAnswer, ChatChunk, Model, ModelList } from './answers.ts';
import { inputOf, paidWork } from './paid-work.ts';
import { ResponseAnswer, ResponseEvent } from './response-answers.ts';

const textErrors = ['unknown_model', 'policy_blocked', 'budget_exhausted', 'hub_failed'] as const;

/** A message has content, be it null; it says of calls and of a refusal where there are any. */
const answerNulls = { 'choices.message': ['content'] } as const;

/** The streamed answer of a chat, wherever it is asked for. */
const chatStream = {
  asked: ({ stream }: ChatRequest) => stream,
  document: operation('inference/chat_completions_stream'),
  frames: chatFrames,
  eventOf: (data: JsonObject, { stream_options }: ChatRequest) =>
    chunkOf(data.answer as GraphChunk, stream_options?.include_usage ?? false),
};

/** As one segment, escaped, or as all that is left of the path. */
const ModelPath = z.preprocess(
  params => (isJsonObject(params) && '*' in params ? { id: params['*'] } : params),
  z.object({ id: z.string() }),
);

export const inferenceDoors = [
  documentDoor({
    ...paidWork,
    name: 'chat_completions',
    path: '/v1/chat/completions',
    summary: 'One chat completion with a signed spend receipt',
    document: operation('inference/chat_completions'),
    stream: chatStream,
    body: ChatRequest,
    variables: inputOf,
    nulls: answerNulls,
    response: ChatAnswer,
    event: ChatChunk,
    errors: textErrors,
  }),
  documentDoor({
    ...paidWork,
    name: 'a2a_message',
    path: '/a2a-message',
    summary: 'The same by message to an agent: a chat request, answered in one piece or streamed',
    document: operation('inference/a2a_message'),
    stream: chatStream,
    body: A2aMessage,
    variables: inputOf,
    nulls: answerNulls,
    response: ChatAnswer,
    event: ChatChunk,
    errors: [...textErrors, 'jsonrpc_not_served'],
  }),
  documentDoor({
    ...paidWork,
    name: 'create_response',
    path: '/v1/responses',
    summary: 'One answer to a text or to messages, stateless, with a signed spend receipt',
    document: operation('inference/create_response'),
    stream: {
      asked: ({ stream = false }) => stream,
      document: operation('inference/create_response_stream'),
      frames: namedFrames,
      eventOf: data => (data.answer as JsonObject).event ?? null,
    },
    body: ResponsesRequest,
    variables: inputOf,
    nulls: { output: [], 'output.content': [] },
    response: ResponseAnswer,
    event: ResponseEvent,
    errors: textErrors,
  }),
  documentDoor({
    name: 'list_models',
    methods: ['GET'],
    path: '/v1/models',
    summary: 'Model ids that a call may name',
    tags: ['inference'],
    document: operation('inference/list_models'),
    cache: 'public, max-age=60',
    answer: data => ({ object: 'list', data: data.models ?? [] }),
    response: ModelList,
  }),
  documentDoor({
    name: 'retrieve_model',
    methods: ['GET'],
    path: '/v1/models/{id}',
    // Ids hold slashes, and not every client escapes them.
    aliases: ['/v1/models/*'],
    summary: 'One model: what it takes and gives, who serves it and what a call costs',
    tags: ['inference'],
    document: operation('inference/retrieve_model'),
    cache: 'public, max-age=60',
    params: ModelPath,
    variables: ({ params }) => ({ id: params.id }),
    answer({ model }) {
      if (!model) throw new Refusal('model_not_found', { param: 'model' });
      return model;
    },
    response: Model,
    errors: ['model_not_found'],
  }),
] as const;

/** A chunk as the graph gives it, each member in place. */
type GraphChunk = JsonObject & {
  readonly choices: readonly (JsonObject & { readonly delta: JsonObject })[];
  readonly usage: Json;
  readonly svc: Json;
};

/** A chunk says what it adds and no more. Where usage is asked for every chunk has the member, and the last its value. */
function chunkOf({ choices, usage, svc, ...head }: GraphChunk, include_usage: boolean): Json {
  return {
    ...head,
    choices: choices.map(choice => ({ ...choice, delta: bare(choice.delta) })),
    ...(include_usage ? { usage } : {}),
    ...(svc ? { svc } : {}),
  };
}
