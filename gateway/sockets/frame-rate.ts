import type { WebSocket } from 'ws';
import { limits } from '../../schema/limits.ts';
import type { SocketTally } from '../operations/socket-tally.ts';

/** "Too many requests", among the codes that graphql-transport-ws leaves to applications. */
const FLOODED = 4429;

/**
 * Frames of any kind cost work: a message is parsed, a ping is answered, also by a server whose answers nobody reads.
 * A socket may send so many at once and so many per second after that; one that sends more is told why and let go of.
 */
export function boundFrames(socket: WebSocket, now_ms: () => number, tally: SocketTally): void {
  let left = limits.socket_frames_burst_max;
  let filled_ms = now_ms();
  const count = () => {
    const at_ms = now_ms();
    const refilled = left + ((at_ms - filled_ms) / 1_000) * limits.socket_frames_per_second_max;
    left = Math.min(limits.socket_frames_burst_max, refilled) - 1;
    filled_ms = at_ms;
    if (left < 0) hangUp(socket, tally);
  };
  for (const frame of ['message', 'ping', 'pong'] as const) socket.on(frame, count);
}

function hangUp(socket: WebSocket, tally: SocketTally): void {
  if (socket.readyState !== socket.OPEN) return;
  tally.dropped.flood++;
  socket.close(FLOODED, 'Too many messages');
  // Nothing of what is still on its way is read; who does not close by then is hung up on.
  socket.pause();
  setTimeout(() => socket.terminate(), limits.linger_ms_max).unref();
}
