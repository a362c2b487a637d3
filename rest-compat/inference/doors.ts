import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { finalHubCodes, Refusal } from '../../schema/errors.ts';
import { ModelNoun, ModelPageNoun } from '../../schema/inference/model.ts';
import { limits } from '../../schema/limits.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { EmbeddingArguments, EmbeddingRequest, isTokens } from '../../schema/requests/embedding.ts';
import { ImageRequest } from '../../schema/requests/image-generation.ts';
import { AttemptIndex, IntentId, ParentRef } from '../../schema/requests/paid-work.ts';
import { ResponsesRequest } from '../../schema/requests/responses.ts';
import { transcriptionWith } from '../../schema/requests/transcription.ts';
import { Problem } from '../answer-shapes.ts';
import { type DoorPrice, documentDoor } from '../door.ts';
import { RpcAnswer } from '../faces/a2a/answers.ts';
import { a2aFace } from '../faces/a2a/serve.ts';
import { fieldOperation, operationVariables } from '../field-operation.ts';
import { withoutAnyNulls } from '../omit-nulls.ts';
import { RefusedCallAnswer } from '../receipt/answers.ts';
import { chatFrames, namedFrames } from '../sse.ts';
import { AudioUpload, digits, formOf, headerText, ModelInPath } from '../text-members.ts';
import {
  ChatAnswer,
  ChatChunk,
  EmbeddingsAnswer,
  ImageAnswer,
  ModelListAnswer,
  ResponseAnswer,
  ResponseEvent,
  TranscriptionAnswer,
} from './answers.ts';
import { ChatFault } from './stream-fault.ts';

/* Endpoints that sell answers of models, except messages and tasks, and the columns that all such endpoints share. */

/** Intent and parent in headers, for every endpoint that sells work. */
export const IntentHeaders = z.object({
  'x-svc-intent': headerText(IntentId).describe(
    'Id of the intent of the call, which groups attempts at the same work. `intent_id` in the body takes precedence. Default: none.',
  ),
  'x-svc-attempt': digits(AttemptIndex)
    .optional()
    .describe(
      'Number of the attempt at the intent, from 0. `attempt_index` in the body takes precedence. Default: none.',
    ),
  'x-svc-parent': headerText(ParentRef.optional()).describe(
    'Task id of the row that this call follows from. `parent_ref` in the body takes precedence. Default: none.',
  ),
});

/** The members of the body take precedence over the headers. */
export function withIntent(body: JsonObject, headers: z.output<typeof IntentHeaders>): JsonObject {
  return {
    ...body,
    intent_id: body.intent_id ?? headers['x-svc-intent'],
    attempt_index: body.attempt_index ?? headers['x-svc-attempt'] ?? null,
    parent_ref: body.parent_ref ?? headers['x-svc-parent'] ?? null,
  };
}

const callPrice: DoorPrice = {
  amount_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  paid_by: ['payment', 'live_key', 'demo_key'],
};

/** Columns that all endpoints that sell work share. */
export const paidWork = {
  methods: ['POST'],
  effect: 'adds',
  tags: ['inference'],
  price: callPrice,
  body_bytes_max: limits.request_bytes_max,
  headers: IntentHeaders,
  complete: withIntent,
  /** A refusal by the book, or the reason that the call does not belong to that book or payer. */
  refusal: z.union([RefusedCallAnswer, Problem]),
} as const;

/** Errors of work by models, in addition to those of every paid call. */
export const workErrors = [
  'unknown_model',
  'policy_blocked',
  'budget_exhausted',
  'approval_ttl_expired',
  ...finalHubCodes,
  'hub_rate_limited',
  'hub_failed',
  'hub_overloaded',
] as const;

/** `content` of a message is present even if it is null; `tool_calls` and `refusal` are left out if there are none. */
const answerNulls = { 'choices.message': ['content'] } as const;

/** A stream whose events the graph has as JSON. */
export function eventOperation(name: string, field: string) {
  return fieldOperation({ name, field, shows: z.object({ event: z.unknown() }) });
}

/** The streamed answer of a chat. */
const chatStream = {
  isRequested: ({ stream }: ChatRequest) => stream,
  document: fieldOperation({ name: 'chat_completions_stream', field: 'chatCompletionStream', shows: ChatChunk }),
  frames: chatFrames,
  eventOf: (data: JsonObject, { stream_options }: ChatRequest) =>
    chunkOf(data.answer as GraphChunk, stream_options?.include_usage ?? false),
};

export const inferenceDoors = [
  documentDoor({
    ...paidWork,
    name: 'chat_completions',
    tool: { daily: true },
    path: '/v1/chat/completions',
    summary: 'Create a chat completion, with a signed spend receipt',
    example: { messages: [{ role: 'user', content: 'Hi' }] },
    field: 'createChatCompletion',
    stream: chatStream,
    body: ChatRequest,
    nulls: answerNulls,
    answer: ({ answer }) => withUsage(answer),
    response: ChatAnswer,
    event: z.union([ChatChunk, ChatFault]),
    errors: workErrors,
  }),
  documentDoor({
    ...paidWork,
    name: 'a2a_message',
    path: '/a2a-message',
    summary: 'Send a chat request or, by HTTP only, an A2A message (JSON-RPC)',
    example: { messages: [{ role: 'user', content: 'Hi' }] },
    field: 'createChatCompletion',
    shows: ChatAnswer,
    stream: chatStream,
    body: ChatRequest,
    nulls: answerNulls,
    answer: ({ answer }) => withUsage(answer),
    response: z.union([ChatAnswer, ...RpcAnswer.options]),
    event: z.union([ChatChunk, ChatFault, ...RpcAnswer.options]),
    // The last two occur only for tasks of A2A.
    errors: [...workErrors, 'control_proof_invalid', 'unauthenticated'],
    face: a2aFace,
  }),
  documentDoor({
    ...paidWork,
    name: 'create_response',
    path: '/v1/responses',
    summary: 'Create a model response to a text or messages, stateless, with a signed spend receipt',
    example: { input: 'Hi' },
    field: 'createResponse',
    stream: {
      isRequested: ({ stream = false }) => stream,
      document: eventOperation('create_response_stream', 'responseStream'),
      frames: namedFrames,
      eventOf: data => (data.answer as JsonObject).event ?? null,
    },
    body: ResponsesRequest,
    nulls: { output: [], 'output.content': [] },
    answer: ({ answer }) => withUsage(answer),
    response: ResponseAnswer,
    event: ResponseEvent,
    errors: workErrors,
  }),
  documentDoor({
    name: 'list_models',
    tool: { daily: true },
    methods: ['GET'],
    path: '/v1/models',
    summary: 'List the models that a call may name',
    tags: ['inference'],
    field: 'modelPage',
    shows: ModelPageNoun,
    cache: 'public, max-age=60',
    answer: ({ answer }) => (isJsonObject(answer) ? { object: 'list', ...answer } : null),
    response: ModelListAnswer,
  }),
  documentDoor({
    name: 'retrieve_model',
    methods: ['GET'],
    path: '/v1/models/{id}',
    // Model ids contain slashes, which some clients do not escape.
    aliases: ['/v1/models/*'],
    summary: 'Get a model: what it accepts and returns, its hubs, and the price of a call',
    tags: ['inference'],
    field: 'model',
    cache: 'public, max-age=60',
    params: ModelInPath,
    answer({ answer }) {
      if (!answer) throw new Refusal('model_not_found', { param: 'model' });
      return answer;
    },
    response: ModelNoun,
    errors: ['model_not_found'],
  }),
] as const;

/** A chunk as the graph returns it, with every member. */
type GraphChunk = JsonObject & {
  readonly choices: readonly (JsonObject & { readonly delta: JsonObject })[];
  readonly usage: Json;
  readonly svc: Json;
};

/** A chunk has only the members that it adds. If usage was requested, every chunk has `usage`, and the last one its value. */
function chunkOf({ choices, usage, svc, ...head }: GraphChunk, include_usage: boolean): Json {
  return {
    ...head,
    choices: choices.map(choice => ({ ...choice, delta: bareDelta(choice.delta) })),
    ...(include_usage ? { usage: usageOf(usage) } : {}),
    ...(svc ? { svc } : {}),
  };
}

/** `reasoning_details` keeps the spelling of the hub, with its nulls. */
function bareDelta({ reasoning_details, ...delta }: JsonObject): Json {
  return { ...(withoutAnyNulls(delta) as JsonObject), ...(reasoning_details ? { reasoning_details } : {}) };
}

/** The further counts of the hub become members of `usage`. */
function usageOf(usage: Json | undefined): Json {
  if (!isJsonObject(usage)) return null;
  const { details, ...counts } = usage;
  return isJsonObject(details) ? { ...details, ...counts } : counts;
}

function withUsage(answer: Json | undefined): Json {
  return isJsonObject(answer) ? { ...answer, usage: usageOf(answer.usage) } : null;
}

export const mediaDoors = [
  documentDoor({
    ...paidWork,
    name: 'generate_image',
    path: '/v1/images/generations',
    summary: 'Generate an image, with a signed spend receipt',
    example: { prompt: 'A receipt' },
    field: 'createImage',
    body: ImageRequest,
    nulls: { data: [] },
    response: ImageAnswer,
    errors: workErrors,
  }),
  documentDoor({
    ...paidWork,
    name: 'create_embeddings',
    path: '/v1/embeddings',
    summary: `Create embeddings of up to ${limits.embedding_inputs_max.toLocaleString('en')} texts, with a signed spend receipt`,
    limits: [
      `The vectors of an answer take at most ${limits.embedding_answer_chars_max} bytes: about 900,000 numbers, or 1,500 vectors of 1,536 numbers in base64. A longer answer is refused with 413 answer_too_large, and nothing is charged.`,
    ],
    example: { input: 'Hi' },
    field: 'createEmbeddings',
    body: EmbeddingRequest,
    // The graph has a separate member for tokens, because its inputs have no unions.
    variables: ({ body: { input, ...members } }, document) => {
      const values = { ...members, [isTokens(input) ? 'input_tokens' : 'input']: input };
      return operationVariables(document, [{ schema: EmbeddingArguments, values }]);
    },
    response: EmbeddingsAnswer,
    errors: [...workErrors, 'answer_too_large'],
  }),
  documentDoor({
    ...paidWork,
    name: 'transcribe_audio',
    path: '/v1/audio/transcriptions',
    summary: 'Transcribe an audio file, with a signed spend receipt',
    example: { file: 'speech.mp3' },
    field: 'createTranscription',
    takes: 'multipart/form-data',
    body_bytes_max: limits.upload_form_bytes_max,
    body: formOf(transcriptionWith(AudioUpload), {
      temperature: 'number',
      attempt_index: 'number',
      stream: 'flag',
      failover: 'flag',
      timestamp_granularities: 'list',
      svc: 'object',
    }),
    plain: {
      isRequested: ({ response_format }) => response_format === 'text',
      media: 'text/plain; charset=utf-8',
      textOf: data => String(memberOf(data, 'text')),
    },
    nulls: { '': [] },
    response: TranscriptionAnswer,
    errors: [...workErrors, 'upload_unknown'],
  }),
] as const;

function memberOf({ answer }: JsonObject, name: string) {
  return isJsonObject(answer) ? answer[name] : '';
}
