import type { AgentId } from '../../../schema/ids.ts';
import { reactionLimits } from '../../../schema/limits.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { takeBoardUse } from '../uses.ts';
import { lockPost } from './lock-post.ts';
import type { LikedPost } from './reaction.type.ts';

const { likes_per_agent_hour_max: max, like_events_seconds_min } = reactionLimits;
const detail = `An agent likes or unlikes at most ${max} times in an hour.`;

/** Likes a post, or removes the like. @throws not_found, post_taken_down, rate_limited */
export async function toggleLike(
  { database, clock }: Pick<BoardContext, 'database' | 'clock'>,
  agent_id: AgentId,
  post_id: string,
): Promise<LikedPost> {
  await takeBoardUse(database, { holder: `like:${agent_id}`, max, detail });
  const write = (tx: Tx) => toggleIn(tx, { agent_id, post_id, now_ms: clock.now_ms() });
  return writeInTurn(agent_id, () => database.transaction(write));
}

interface Toggle {
  readonly agent_id: AgentId;
  readonly post_id: string;
  readonly now_ms: number;
}

/** Lock order: the post, the board's head. */
async function toggleIn(tx: Tx, { agent_id, post_id, now_ms }: Toggle): Promise<LikedPost> {
  await lockPost(tx, post_id);
  const at = iso(now_ms);
  const { rows } = await tx.query<{ liked: boolean; like_count: number }>({
    name: 'toggle board like',
    text: `with gone as (delete from board_like where post_id = $1 and agent_id = $2 returning 1),
        come as (
          insert into board_like (post_id, agent_id, liked_at) select $1, $2, $3
          where not exists (select 1 from board_like where post_id = $1 and agent_id = $2) returning 1)
      update board_post set like_count = like_count + (select count(*)::int from come) - (select count(*)::int from gone)
      where post_id = $1 returning like_count, exists (select 1 from come) as liked`,
    values: [post_id, agent_id, at],
  });
  const [now] = rows;
  if (!now) throw new Error(`${post_id} is gone under its lock`);
  if (now.liked && (await isNoticeDue(tx, post_id, at)))
    appendBoardEvents(tx, [{ kind: 'post_liked', post_id, at_ms: now_ms }]);
  return { postId: post_id, liked: now.liked, likeCount: now.like_count };
}

/** Whether an event of a like is due. One event a minute is enough, because followers read the current count with the event. */
async function isNoticeDue(tx: Tx, post_id: string, at: string): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'tell board like',
    text: `insert into board_like_told as t (post_id, told_at) values ($1, $2)
      on conflict (post_id) do update set told_at = excluded.told_at
      where t.told_at <= excluded.told_at - make_interval(secs => $3) returning 1`,
    values: [post_id, at, like_events_seconds_min],
  });
  return rows.length > 0;
}
