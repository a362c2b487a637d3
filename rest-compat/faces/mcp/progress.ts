import { acceptsByName } from '../../http/accept.ts';
import { eventStream } from '../../sse.ts';
import { bounds } from './bounds.ts';
import { metaOf, notificationText, type RequestId, type RpcRequest } from './json-rpc.ts';

/* Progress of long calls: a client that sends a progress token receives events until the result. */

export const progressHeaders = eventStream;

/** The token. Null if there is none, or if the client does not accept events. */
export function progressTokenOf({ params }: RpcRequest, accept: unknown): RequestId | null {
  const { progressToken } = metaOf(params);
  if (!acceptsByName(accept, eventStream['content-type'])) return null;
  return typeof progressToken === 'string' || Number.isInteger(progressToken) ? (progressToken as RequestId) : null;
}

/** The progress is the elapsed seconds, because the remaining time is unknown. The call continues if the client disconnects. */
export async function* progressEvents(
  token: RequestId,
  work: Promise<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const begun = Date.now();
  let progress = -1;
  for (;;) {
    // Has to increase with each event (2025-11-25, "Progress").
    progress = Math.max(progress + 1, Math.floor((Date.now() - begun) / 1000));
    yield messageEvent(
      notificationText('notifications/progress', {
        progressToken: token,
        progress: progress,
        message: 'The call is still running.',
      }),
    );
    const message = await waitAtMost(work, bounds.progress_every_ms);
    if (message !== null) return yield messageEvent(message);
  }
}

async function waitAtMost(work: Promise<Buffer>, ms: number): Promise<Buffer | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** JSON has no bare line breaks, so its data is one line (HTML standard, 9.2.6). */
export function messageEvent(data: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from('event: message\ndata: '), Buffer.from(data), Buffer.from('\n\n')]);
}
