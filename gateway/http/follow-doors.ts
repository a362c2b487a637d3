import { type DocumentNode, type ExecutionResult, print } from 'graphql';
import type { Followable, Port } from '../../rest-compat/port.ts';
import { faultEvent } from '../../rest-compat/problem.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import { EventBody, type EventWriting } from '../sockets/event-body.ts';
import type { NextMessage } from '../sockets/frame.ts';
import type { EventStreams } from '../sockets/serve-events.ts';
import { told } from './door-port.ts';

/** Doors whose events go on for ever, under the rules of sockets: the same groups, bounds, heartbeats and goodbyes. */
export function following(streams: Pick<EventStreams, 'follow'>): Port['follow'] {
  return async ({ document, variables, address, ...asked }) => {
    const requested = { query: textOf(document), variables };
    const followed = await streams.follow(requested, { ...nothingShown, address }, writingOf(asked));
    if (followed instanceof EventBody) return { kind: 'events', body: followed.readable };
    return { kind: 'refused', executed: { ...told(followed), headers: {} } };
  };
}

/** What is public is followed as nobody, so that all who follow it are one group. */
const nothingShown: Omit<ShownCredentials, 'address'> = {
  sessions: [],
  agent: null,
  proof: null,
  api_key: null,
  slice: null,
  ingest_key: null,
};

const texts = new WeakMap<DocumentNode, string>();

function textOf(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document);
  texts.set(document, text);
  return text;
}

const written = new WeakMap<NextMessage, Map<Followable['frames'], Buffer>>();

function writingOf({ frames, eventOf }: Pick<Followable, 'frames' | 'eventOf'>): EventWriting {
  const one = (result: ExecutionResult): Buffer => {
    const { data, errors } = told(result);
    if (data !== null) return Buffer.from(frames.event(eventOf(data)));
    const [error = { code: 'internal' as const }] = errors;
    return Buffer.from(frames.fault?.(faultEvent(error), 0) ?? '');
  };
  return {
    one,
    shared(message) {
      const known = written.get(message) ?? new Map<Followable['frames'], Buffer>();
      written.set(message, known);
      const bytes = known.get(frames) ?? one(JSON.parse(message.result.toString()) as ExecutionResult);
      known.set(frames, bytes);
      return bytes;
    },
    complete: '',
  };
}
