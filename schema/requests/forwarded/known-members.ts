import { isJsonObject, type Json, type JsonObject } from '../../canonical-json.ts';

/*
 * The members of a canonical chat, or of a response in the form of a chat, that this service knows; all others are passed on unchanged. A
 * null below is a known value with any content. Written by hand: zod cannot list what the transforms of the schemas produce, and the form
 * that a former version bound must not change when a schema gets another member.
 */

interface KnownMembers {
  readonly [member: string]: KnownMembers | null;
}

const schema = { name: null, description: null, schema: null, strict: null };
const named = { type: null, function: { name: null } };

const parts = {
  type: null,
  text: null,
  image_url: { url: null, detail: null },
  input_audio: { data: null, format: null },
  file: { file_data: null, filename: null },
};

/** A message as it was bound before names, reasoning and unknown members were passed on. */
const formerMessage = {
  role: null,
  content: null,
  parts,
  tool_calls: { id: null, type: null, function: { name: null, arguments: null } },
  refusal: null,
  tool_call_id: null,
};

const message = { ...formerMessage, name: null, reasoning_content: null, reasoning: null, reasoning_details: null };

/** The scalar members of a request. */
const plain = [
  'model',
  'max_tokens',
  'max_output_tokens',
  'temperature',
  'stream',
  'stream_options',
  'intent_id',
  'attempt_index',
  'parent_ref',
  'svc',
  'parallel_tool_calls',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
];

function requestWith(messages: KnownMembers): KnownMembers {
  return {
    ...Object.fromEntries(plain.map(member => [member, null])),
    messages,
    input: messages,
    tools: { type: null, function: { name: null, description: null, parameters: null, strict: null } },
    tool_choice: { ...named, allowed_tools: { mode: null, tools: named } },
    response_format: { type: null, json_schema: schema },
  };
}

const request = { ...requestWith(message), include: null };
const formerRequest = requestWith(formerMessage);

/** A member that this service does not know, with its path in the request as OpenAI spells it. */
export interface UnknownMember {
  readonly name: string;
  readonly at: string;
}

/** All unknown members of a canonical request, in no particular order. */
export function unknownMembers(args: JsonObject): readonly UnknownMember[] {
  return [...unknownIn(args, request, [])];
}

function* unknownIn(value: Json, known: KnownMembers, at: readonly (string | number)[]): Generator<UnknownMember> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unknownIn(item, known, [...at, index]);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(known, name) ? known[name] : undefined;
    if (inner) yield* unknownIn(member, inner, [...at, name === 'parts' ? 'content' : name]);
    if (inner !== undefined) continue;
    const names = name === 'extra' && isJsonObject(member) ? Object.keys(member) : [name];
    for (const unknown of names) yield { name: unknown, at: [...at, unknown].join('.') };
  }
}

/**
 * The same request as earlier versions bound it, which passed on only known members. Null if they would have refused it, or if it is the
 * same.
 */
export function formerArgs(args: JsonObject): JsonObject | null {
  if (unknownIn(args, formerRequest, []).next().done) return null;
  const former = knownOf(args, formerRequest) as JsonObject;
  for (const list of ['messages', 'input']) {
    const messages = former[list];
    if (!Array.isArray(messages)) continue;
    const bound = (messages as readonly JsonObject[]).map(formerContent);
    return bound.includes(null) ? null : { ...former, [list]: bound as readonly JsonObject[] };
  }
  return null;
}

function knownOf(value: Json, known: KnownMembers): Json {
  if (Array.isArray(value)) return value.map(item => knownOf(item, known));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const inner = Object.hasOwn(known, name) ? known[name] : undefined;
    return inner === undefined ? [] : [[name, inner === null ? member : knownOf(member, inner)]];
  });
  return Object.fromEntries(members);
}

/** Text parts were joined unless one of the parts was an image. Audio and files were refused. */
function formerContent(former: JsonObject): JsonObject | null {
  const { parts: former_parts, ...rest } = former;
  if (!Array.isArray(former_parts)) return former;
  const kinds = new Set((former_parts as readonly JsonObject[]).map(({ type }) => type));
  if (kinds.has('input_audio') || kinds.has('file')) return null;
  if (kinds.has('image_url')) return former;
  return { ...rest, content: (former_parts as readonly JsonObject[]).map(({ text }) => String(text)).join('') };
}
