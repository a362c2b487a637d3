import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** What the answers of one caller go out on: a socket with all its operations. */
export interface Line {
  readonly open: boolean;
  /** `forbidden`: who opened it may read no more. `broken`: by a fault of ours. */
  shut(why: 'forbidden' | 'broken'): void;
  /** Once, when nothing goes out on it any more. */
  onceClosed(heard: () => void): void;
}

export function socketLine(socket: WebSocket): Line {
  return {
    get open() {
      return socket.readyState === socket.OPEN;
    },
    shut(why) {
      if (why === 'forbidden') socket.close(CloseCode.Forbidden, 'Forbidden');
      else socket.close(CloseCode.InternalServerError, 'Internal server error');
    },
    onceClosed: heard => void socket.once('close', heard),
  };
}
