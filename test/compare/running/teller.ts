import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { Account, FixedService } from './fixed-service.ts';
import type { DoorCall, Transport, TransportAnswer } from './transport.ts';

/* Runs a story on a service, call by call, and records every answer. */

export interface StoryAgent {
  readonly account: Account;
  readonly agent_id: number;
  session: string;
}

/** One line of the record: the label of a call, and all of its answers. */
export interface RecordLine {
  readonly at: string;
  readonly to: Json;
}

export interface Teller {
  readonly service: FixedService;
  readonly calls: readonly RecordLine[];
  /** Names of the endpoints that have answered without an error. */
  readonly reached: ReadonlySet<string>;
  /** Answers whose status is not the expected one. */
  readonly surprises: readonly string[];
  /** Makes a call and records it. `status` is the expected status. Default: any that is no refusal. */
  tell(label: string, call: DoorCall, status?: number): Promise<RecordedAnswer>;
}

/** An answer, and the members of its body that later calls need. */
export interface RecordedAnswer extends TransportAnswer {
  readonly fields: Readonly<Record<string, string>> & JsonObject;
}

export function tellerOf(service: FixedService, transport: Transport): Teller {
  const calls: RecordLine[] = [];
  const reached = new Set<string>();
  const surprises: string[] = [];
  return {
    service,
    calls,
    reached,
    surprises,
    async tell(label, call, status) {
      await service.step(label);
      const answered = await transport(service.gateway.url, call);
      calls.push({
        at: `${String(calls.length + 1).padStart(3, '0')} ${call.door}: ${label}`,
        to: answered.exchanges as Json,
      });
      const problem = JSON.stringify(answered.body)?.slice(0, 300);
      const failed = isFailed(answered);
      if (!failed) reached.add(call.door);
      if (status === undefined ? failed : answered.status !== status && !(failed && status >= 400))
        surprises.push(`${call.door}: ${label}: ${answered.status} ${problem}`);
      const body = answered.body as RecordedAnswer['fields'] | null;
      return { ...answered, fields: body ?? ({} as RecordedAnswer['fields']) };
    },
  };
}

/** Whether an answer is a refusal, which on the graph can have status 200. */
function isFailed({ status, body }: TransportAnswer): boolean {
  return status >= 400 || (body !== null && typeof body === 'object' && 'errors' in body);
}

/** Header that proves possession of the agent's book. */
export const sessionHeader = ({ session }: Pick<StoryAgent, 'session'>) => ({ 'X-SVC-Session': session });
