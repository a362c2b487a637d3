import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { a2aLimits, limits, offeredLimits } from '../../../schema/limits.ts';
import { chatMembers } from '../../../schema/requests/chat-completion.ts';
import { A2aFault } from './faults.ts';
import { fromLegacy } from './legacy.ts';
import type { ProtocolVersion } from './methods.ts';

/* Translates an A2A message to a chat request. */

const Members = z.record(z.string(), z.unknown());
/** An empty name is the same as none, as in protobuf. */
const name = z.string().max(offeredLimits.request_bytes_max * 2);

const Message = z.object({
  messageId: z.string().min(1).max(a2aLimits.message_id_chars_max),
  contextId: name.nullish(),
  taskId: name.nullish(),
  role: z.enum(['ROLE_USER']),
  parts: z.array(Members).min(1).max(a2aLimits.message_parts_max),
  metadata: Members.nullish(),
  referenceTaskIds: z.array(z.string()).max(a2aLimits.message_references_max).nullish(),
});

const SendParams = z.object({
  message: Message,
  configuration: z
    .object({
      acceptedOutputModes: z.array(z.string()).nullish(),
      taskPushNotificationConfig: Members.nullish(),
      historyLength: z.int().min(0).nullish(),
    })
    .nullish(),
});

export interface SentMessage {
  readonly message_id: string;
  readonly context_id: string | null;
  readonly task_id: string | null;
  readonly parts: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** @throws A2aFault invalid_params, content_type_not_supported, push_notification_not_supported, unsupported_operation */
export function readMessage(params: JsonObject, version: ProtocolVersion): SentMessage {
  const { message, configuration } = validParams(SendParams, version === '0.3' ? fromLegacy(params) : params);
  if (configuration?.taskPushNotificationConfig) throw new A2aFault('push_notification_not_supported');
  requireMode(configuration?.acceptedOutputModes ?? []);
  // The model would not see the referenced tasks, and the answer would be paid for.
  if (message.referenceTaskIds?.length)
    throw new A2aFault(
      'unsupported_operation',
      'referenceTaskIds is not supported: the model would not see those tasks.',
      'message.referenceTaskIds',
    );
  return {
    message_id: message.messageId,
    context_id: message.contextId || null,
    task_id: message.taskId || null,
    parts: message.parts as JsonObject[],
    metadata: (message.metadata ?? {}) as JsonObject,
  };
}

/** Validates params in A2A's spelling. @throws A2aFault invalid_params, which names the member */
export function validParams<S extends z.ZodType>(shape: S, params: JsonObject): z.output<S> {
  const parsed = shape.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new A2aFault('invalid_params', issue?.message, issue?.path.join('.'));
}

/** Answers are text or, if the model calls tools, JSON. */
function requireMode(modes: readonly string[]): void {
  if (modes.length === 0 || modes.some(mode => /^(text\/(plain|\*)|application\/(json|\*)|\*\/\*|\*|text)$/.test(mode)))
    return;
  throw new A2aFault('content_type_not_supported', 'acceptedOutputModes must include text/plain or application/json.');
}

/**
 * The chat request of a message: its texts are one user message. One data part may have further members of a request of POST
 * /v1/chat/completions, such as a model or earlier messages. The context id is the intent. Content that the model would not see is refused.
 * @throws A2aFault invalid_params, content_type_not_supported
 */
export function chatOf({ parts, context_id }: Pick<SentMessage, 'parts' | 'context_id'>): JsonObject {
  const texts: string[] = [];
  let request: JsonObject | null = null;
  for (const [at, part] of parts.entries()) {
    requireOneContent(part, at);
    if (typeof part.text === 'string') texts.push(part.text);
    else if (isJsonObject(part.data) && request === null) request = requireMembers(part.data, at);
    else throw unsupportedPart(part, at);
  }
  const { stream: _, ...members } = request ?? {};
  const before = Array.isArray(members.messages) ? members.messages : [];
  const own_message: Json[] = texts.length === 0 ? [] : [{ role: 'user', content: texts.join('\n\n') }];
  const messages = [...before, ...own_message];
  if (messages.length === 0) throw new A2aFault('invalid_params', 'The message has no text.', 'message.parts');
  return { ...members, messages, ...intentOf(context_id, members) };
}

/** A part has one content (1.0 §4.1.6); a second one would be lost. @throws A2aFault invalid_params */
function requireOneContent(part: JsonObject, at: number): void {
  const contents = ['text', 'data', 'raw', 'url'].filter(name => (part[name] ?? null) !== null);
  if (contents.length > 1)
    throw new A2aFault(
      'invalid_params',
      `A part must have one content, but this one has ${contents.join(' and ')}.`,
      `message.parts.${at}`,
    );
}

/** Data that is not part of a chat request would not reach the model. @throws A2aFault content_type_not_supported */
function requireMembers(data: JsonObject, at: number): JsonObject {
  const unknown = Object.keys(data).find(member => !chatMembers.has(member));
  if (unknown === undefined) return data;
  const detail = `A data part has members of a chat request, and ${JSON.stringify(unknown.slice(0, 64))} is not one of them. Send other data as text.`;
  throw new A2aFault('content_type_not_supported', detail, `message.parts.${at}`);
}

function unsupportedPart(part: JsonObject, at: number): A2aFault {
  const field = `message.parts.${at}`;
  if ('raw' in part || 'url' in part || 'data' in part)
    return new A2aFault(
      'content_type_not_supported',
      'A message may have text parts and one data part with a JSON object. Other content is not supported.',
      field,
    );
  return new A2aFault('invalid_params', 'A part must have text or data.', field);
}

function intentOf(context_id: string | null, { intent_id = null }: JsonObject): JsonObject {
  if (context_id === null) return {};
  if (context_id.length > limits.intent_id_chars_max)
    throw new A2aFault(
      'invalid_params',
      `contextId has more than ${limits.intent_id_chars_max} characters.`,
      'message.contextId',
    );
  if (intent_id !== null && intent_id !== context_id)
    throw new A2aFault('invalid_params', 'contextId differs from the intent_id of the request.', 'message.contextId');
  return { intent_id: context_id };
}
