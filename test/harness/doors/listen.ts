import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { z } from 'zod';
import { ChatChunk } from '../../../rest-compat/inference/answers.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Fetch } from '../buyer.ts';
import { ask, CHAT, type ReceiptBody, type Service } from './open-service.ts';
import { expectShortHeaders } from './table.ts';

export type Chunk = Omit<z.infer<typeof ChatChunk>, 'svc'> & { readonly svc?: ReceiptBody };

/** A streamed chat request. Requests with different contents are different requests. */
export const askToStream = (content: string, members: JsonObject = {}) => ask(content, { stream: true, ...members });

/** Starts a streamed answer. Returns as soon as its status and headers have arrived, with functions that read its events. */
export async function listen(
  service: Pick<Service, 'url'>,
  body: unknown,
  {
    headers = {},
    by = fetch,
    path = CHAT,
  }: { headers?: Readonly<Record<string, string>>; by?: Fetch; path?: string } = {},
) {
  const hang_up = new AbortController();
  const answer = await by(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: hang_up.signal,
  });
  expectShortHeaders(answer);
  const events = answer.body
    ?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  const next = async (): Promise<string | null> => (await events?.read())?.value?.data ?? null;
  return {
    status: answer.status,
    headers: answer.headers,
    /** The data of the next event. Null at the end. */
    next,
    leave: () => hang_up.abort(),
    /** Reads all remaining events. */
    async rest(): Promise<StreamAnswer> {
      const data: string[] = [];
      for (let one = await next(); one !== null; one = await next()) data.push(one);
      return readChunks(data);
    },
  };
}

export type StreamAnswer = ReturnType<typeof readChunks>;

export function readChunks(data: readonly string[]) {
  const ends_well = data.at(-1) === '[DONE]';
  const events = (ends_well ? data.slice(0, -1) : data).map(event => JSON.parse(event) as JsonObject);
  const chunks = events.filter(event => !('error' in event)).map(event => strict(event) as Chunk);
  return {
    ends_well,
    chunks,
    /** The last event if it reports an error, else undefined. */
    error: 'error' in (events.at(-1) ?? {}) ? events.at(-1) : undefined,
    text: chunks.map(textOf).join(''),
    finish_reasons: chunks.flatMap(chunk => chunk.choices.flatMap(({ finish_reason }) => finish_reason ?? [])),
    svc: chunks.at(-1)?.svc,
  };
}

/** Checks that an event has the described shape and no further member. */
function strict(event: JsonObject): unknown {
  const parsed = ChatChunk.parse(event);
  if (JSON.stringify(Object.keys(parsed).sort()) !== JSON.stringify(Object.keys(event).sort()))
    throw new Error(`an event says more than it should: ${JSON.stringify(event)}`);
  return parsed;
}

export const textOf = (chunk: Chunk): string => chunk.choices[0]?.delta.content ?? '';
