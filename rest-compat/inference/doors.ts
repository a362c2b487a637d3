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
import { bare } from '../omit-nulls.ts';
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

/* The endpoints that sell answers of models, but for messages and tasks, and what all such endpoints share. */

/** The intent and the parent as headers name them, on every door that sells work. */
export const IntentHeaders = z.object({
  'x-svc-intent': headerText(IntentId),
  'x-svc-attempt': digits(AttemptIndex).optional(),
  'x-svc-parent': headerText(ParentRef.optional()),
});

/** A body that names them itself goes before the headers. */
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

/** The columns in which all doors that sell work are alike. */
export const paidWork = {
  methods: ['POST'],
  effect: 'adds',
  tags: ['inference'],
  price: callPrice,
  body_bytes_max: limits.request_bytes_max,
  headers: IntentHeaders,
  complete: withIntent,
  /** Its book's refusal, or the word why the call is not one of that book or that payer. */
  refusal: z.union([RefusedCallAnswer, Problem]),
} as const;

/** What a model's work may be refused with, beside what every paid call may. */
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

/** A message has content, be it null; it says of calls and of a refusal where there are any. */
const answerNulls = { 'choices.message': ['content'] } as const;

/** A stream whose events the graph has as JSON. */
export function eventOperation(name: string, field: string) {
  return fieldOperation({ name, field, shows: z.object({ event: z.unknown() }) });
}

/** The streamed answer of a chat, wherever it is asked for. */
const chatStream = {
  asked: ({ stream }: ChatRequest) => stream,
  document: fieldOperation({ name: 'chat_completions_stream', field: 'chatCompletionStream', shows: ChatChunk }),
  frames: chatFrames,
  eventOf: (data: JsonObject, { stream_options }: ChatRequest) =>
    chunkOf(data.answer as GraphChunk, stream_options?.include_usage ?? false),
};

export const inferenceDoors = [
  documentDoor({
    ...paidWork,
    name: 'chat_completions',
    path: '/v1/chat/completions',
    summary: 'One chat completion with a signed spend receipt',
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
    summary: 'The same by message to an agent: by A2A over JSON-RPC, or as a chat request',
    example: { messages: [{ role: 'user', content: 'Hi' }] },
    field: 'createChatCompletion',
    shows: ChatAnswer,
    stream: chatStream,
    body: ChatRequest,
    nulls: answerNulls,
    answer: ({ answer }) => withUsage(answer),
    response: z.union([ChatAnswer, ...RpcAnswer.options]),
    event: z.union([ChatChunk, ChatFault, ...RpcAnswer.options]),
    // Those that only tasks have: what a call by JSON-RPC hears has the status that the same has everywhere.
    errors: [...workErrors, 'control_proof_invalid', 'unauthenticated'],
    face: a2aFace,
  }),
  documentDoor({
    ...paidWork,
    name: 'create_response',
    path: '/v1/responses',
    summary: 'One answer to a text or to messages, stateless, with a signed spend receipt',
    example: { input: 'Hi' },
    field: 'createResponse',
    stream: {
      asked: ({ stream = false }) => stream,
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
    methods: ['GET'],
    path: '/v1/models',
    summary: 'Model ids that a call may name',
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
    // Ids hold slashes, and not every client escapes them.
    aliases: ['/v1/models/*'],
    summary: 'One model: what it takes and gives, who serves it and what a call costs',
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
    choices: choices.map(choice => ({ ...choice, delta: bareDelta(choice.delta) })),
    ...(include_usage ? { usage: usageOf(usage) } : {}),
    ...(svc ? { svc } : {}),
  };
}

/** What the hub spells stands as it spells it, nulls and all. */
function bareDelta({ reasoning_details, ...delta }: JsonObject): Json {
  return { ...(bare(delta) as JsonObject), ...(reasoning_details ? { reasoning_details } : {}) };
}

/** All that a hub counts stands side by side. */
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
    summary: 'One image with a signed spend receipt',
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
    summary: `A vector for each of up to ${limits.embedding_inputs_max.toLocaleString('en')} texts, with a signed spend receipt`,
    limits: [
      `The vectors of an answer take at most ${limits.embedding_answer_chars_max} bytes: some 900,000 numbers, or 1,500 vectors of 1,536 numbers in base64. More are refused with 413 answer_too_large, uncharged.`,
    ],
    example: { input: 'Hi' },
    field: 'createEmbeddings',
    body: EmbeddingRequest,
    // The graph has a member of its own for tokens: its inputs have no unions.
    variables: ({ body: { input, ...members } }, document) => {
      const said = { ...members, [isTokens(input) ? 'input_tokens' : 'input']: input };
      return operationVariables(document, [{ schema: EmbeddingArguments, said }]);
    },
    response: EmbeddingsAnswer,
    errors: [...workErrors, 'answer_too_large'],
  }),
  documentDoor({
    ...paidWork,
    name: 'transcribe_audio',
    path: '/v1/audio/transcriptions',
    summary: 'The text of what is spoken in a file, with a signed spend receipt',
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
      asked: ({ response_format }) => response_format === 'text',
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
