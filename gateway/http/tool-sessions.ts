import type { ToolSessions } from '../../rest-compat/faces/mcp/sessions.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Vault } from '../../subgraphs/vault.ts';

const SESSION_LABEL = 'tool session';
const ID_BYTES = 16;
/** From its handshake on, however much it is used: whoever goes on for longer begins anew, which costs one message. */
const STANDS_SECONDS = 86_400;

/** Sessions inside of their ids: `<random>.<lapses, Unix seconds>.<mark>`, by the key that all processes of a service have. */
export function openToolSessions({
  vault,
  clock,
  random,
}: {
  vault: Pick<Vault, 'mark'>;
  clock: Clock;
  random: Random;
}): ToolSessions {
  const now_seconds = () => Math.floor(clock.now_ms() / 1_000);
  const markOf = (said: string) => vault.mark(said, SESSION_LABEL);
  return {
    begin() {
      const said = `${Buffer.from(random.bytes(ID_BYTES)).toString('base64url')}.${now_seconds() + STANDS_SECONDS}`;
      return `${said}.${markOf(said)}`;
    },
    // It opens nothing, so it does not matter that the comparison takes as long as it takes.
    stands(id) {
      const [, said = '', lapses = '', mark] = /^([\w-]{22}\.(\d{1,12}))\.([\w-]{22})$/.exec(id) ?? [];
      return mark !== undefined && Number(lapses) > now_seconds() && markOf(said) === mark;
    },
  };
}
