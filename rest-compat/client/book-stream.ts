import { EventSourceParserStream } from 'eventsource-parser/stream';
import {
  BookRefused,
  type BookTransport,
  brokenBy,
  eventIn,
  type FollowedBook,
  type GraphqlFault,
  refusalIn,
  StreamBroken,
  type StreamOptions,
  type SubscriptionResult,
  shownSessionOf,
  silenceTimer,
  subscriptionTo,
  takenFrom,
} from './book-subscription.ts';

/** A refusal of the service's own is no longer; whatever is stands in for it on the way. */
const REFUSAL_BYTES_MAX = 65_536;

/**
 * The events of one book after `after`, by server-sent events (graphql-sse, a connection each), for as long as it holds. The
 * session goes in a header. @throws BookRefused, StreamBroken
 */
export const bookStream: BookTransport = async function* (book, after, options, signal) {
  const silence = new AbortController();
  const ended = AbortSignal.any([signal, silence.signal]);
  // While an event is worked at nothing is waited for, and nothing is read.
  let waiting = true;
  const heard = silenceTimer(() => waiting && silence.abort(new StreamBroken('nothing was heard')));
  try {
    const answer = await ask(book, after, options, ended);
    const texts = answer.pipeThrough(watch(heard.again)).pipeThrough(new TextDecoderStream());
    for await (const { event, data } of takenFrom(texts.pipeThrough(new EventSourceParserStream()).getReader())) {
      if (event === 'complete') return;
      if (data === '') continue;
      waiting = false;
      yield eventIn(JSON.parse(data));
      waiting = true;
      heard.again();
    }
  } catch (fault) {
    signal.throwIfAborted();
    throw brokenBy(fault);
  } finally {
    heard.stop();
    // Whoever stops reading leaves no connection behind.
    silence.abort();
  }
};

async function ask(
  book: FollowedBook,
  after: number,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { url, fetch: by = fetch } = options;
  const answer = await by(`${url.replace(/\/+$/, '')}/graphql/stream`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'X-SVC-Session': await shownSessionOf(book),
    },
    body: JSON.stringify(subscriptionTo(book, after, options)),
    // Sent on to somebody else, the session would open the book to them.
    redirect: 'error',
    signal,
  });
  if (answer.ok && answer.body) return answer.body;
  const refusal = refusalIn(await faultsIn(answer));
  if (refusal instanceof BookRefused) throw refusal;
  throw new StreamBroken(`status ${answer.status}`, Number(answer.headers.get('Retry-After') ?? 0) * 1_000 || 0);
}

/** What the service itself says is wrong; of what others say on the way, by whichever status, nothing: that passes. */
async function faultsIn({ body }: Response): Promise<readonly GraphqlFault[]> {
  let text = '';
  if (body === null) return [];
  for await (const piece of takenFrom(body.pipeThrough(new TextDecoderStream()).getReader())) {
    text += piece;
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  return faultsOf(text);
}

function faultsOf(text: string): readonly GraphqlFault[] {
  try {
    const { errors } = JSON.parse(text) as SubscriptionResult;
    return Array.isArray(errors) ? errors : [];
  } catch {
    return [];
  }
}

function watch(heard: () => void) {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      heard();
      controller.enqueue(piece);
    },
  });
}
