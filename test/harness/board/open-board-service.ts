import type { z } from 'zod';
import type { PostFlagNoun } from '../../../schema/board/flag.ts';
import type { CommentNoun, PostNoun } from '../../../schema/board/post.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payingFetch } from '../buyer.ts';
import { openService, type Service } from '../doors/open-service.ts';
import { invoiceOf, openTransferSource, transferOf } from '../ingest/transfer-source.ts';

export type Author = Awaited<ReturnType<Service['newAgent']>>;
export type BoardService = Awaited<ReturnType<typeof openBoardService>>;
export type PostAnswer = z.infer<typeof PostNoun> & JsonObject;
export type CommentAnswer = z.infer<typeof CommentNoun> & JsonObject;
export type FlagAnswer = z.infer<typeof PostFlagNoun> & JsonObject;

export const POSTS = '/v1/board/posts';
/** A public base URL, because the endpoint of a post must be on the public internet and the address of a test is not. */
const OURS = 'https://gateway.example';

/** The service with a made-up source of payments to other services, and two agents who write on its board. */
export async function openBoardService(variables: Readonly<Record<string, string>> = {}) {
  const world = openTransferSource();
  const environment = { BASE_URL: OURS, DEMO_KEYS: 'a-demo-key', WAIVER_KEYS: 'a-waiver-key', ...variables };
  const service = await openService(environment, { transfers: world.transfers });
  const [author, other]: readonly [Author, Author] = [await service.newAgent(), await service.newAgent()];
  const possessed = ({ session }: Pick<Author, 'session'> = author) => ({ 'X-SVC-Session': session });
  const write = <T>(path: string, body: object, who: Author) =>
    service.knock<T>('POST', path, { body, headers: possessed(who), by: payingFetch(who.account) });
  const report = (members: JsonObject = {}) => ({ endpoint: `${OURS}/v1/chat`, outcome: 'success', ...members });
  /** Records a payment to another service on the author's book. Returns the task of its row. */
  async function recorded(body: object): Promise<string> {
    const keys = { ...possessed(), 'X-API-Key': 'a-waiver-key' };
    return (await service.post<{ task_id: string }>(`/v1/agents/${author.agent_id}/book/ingest`, body, keys)).body
      .task_id;
  }
  return {
    world,
    service,
    author,
    other,
    possessed,
    report,
    /** Calls an endpoint whose stamp the agent's wallet pays. */
    write,
    post: (members: JsonObject = {}, who: Author = author) => write<PostAnswer>(POSTS, report(members), who),
    async posted(members: JsonObject = {}, who: Author = author): Promise<PostAnswer> {
      const { status, body } = await write<PostAnswer>(POSTS, report(members), who);
      if (status !== 201) throw new Error(`the post was refused: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    comment: (post_id: string, text = 'I saw the same.', who: Author = other) =>
      write<CommentAnswer>(`${POSTS}/${post_id}/comments`, { text }, who),
    /** A paid chat of the agent. Returns the task of its row on the agent's book. */
    async called(who: Author = author): Promise<string> {
      const { body } = await service.buy(who.account, undefined, possessed(who));
      return body.svc.task_id;
    },
    /** Makes a payment to another service and records it on the author's book. Returns the task of its row. */
    async ingested(members: JsonObject = {}, payer: string = author.account.address): Promise<string> {
      return recorded(invoiceOf(world.show(transferOf({ payer })), members));
    },
    recorded,
    /** Calls an endpoint that costs nothing, with the agent's session. */
    act: <T = JsonObject>(path: string, who: Author = author, body: object = {}) =>
      service.post<T>(path, body, possessed(who)),
    rowOf: async (task_id: string, who: Author = author) => {
      const path = `/v1/agents/${who.agent_id}/book?task_id=${task_id}`;
      return (await service.get<{ entries: JsonObject[] }>(path, possessed(who))).body.entries[0];
    },
    eventsOf: async (id: string) =>
      (
        await service.query<{ kind: string }>(
          'select kind from board_event where post_id = $1 or comment_id = $1 order by position',
          [id],
        )
      ).map(({ kind }) => kind),
    stampsOf: async (who: Author = author) => (await service.transfersFrom(who.account)).length,
  };
}
