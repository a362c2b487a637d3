import { createParser } from 'eventsource-parser';

export class OverlongEvent extends Error {
  override name = 'OverlongEvent';
}

/**
 * Data of each server-sent event in a body (HTML standard, section 9.2.6). An event without an end is ignored.
 * @throws OverlongEvent; TypeError if the body is not UTF-8; any error of the body
 */
export async function* eventsIn(body: AsyncIterable<Uint8Array>, event_chars_max: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const events: string[] = [];
  let overlong = false;
  const parser = createParser({
    maxBufferSize: event_chars_max,
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      overlong ||= type === 'max-buffer-size-exceeded';
    },
  });
  let ends_in_cr = false;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    ends_in_cr = text === '' ? ends_in_cr : text.endsWith('\r');
    parser.feed(text);
    yield* events.splice(0);
    if (overlong) throw new OverlongEvent();
  }
  // The parser waits for an LF that might follow the CR.
  if (ends_in_cr) parser.feed('\n');
  yield* events;
}
