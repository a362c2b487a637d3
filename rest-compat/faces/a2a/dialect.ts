import { isJsonObject } from '../../../schema/canonical-json.ts';
import type { DoorRequest } from '../../door-request.ts';
import { A2aFault } from './faults.ts';

/* Versions 1.0 and 0.3 of the protocol: they name their methods otherwise, and so are told apart by them. */

export type ProtocolVersion = '1.0' | '0.3';
type Method = 'send' | 'stream' | 'get' | 'list' | 'cancel' | 'subscribe' | 'push' | 'extended_card';

interface Asked {
  readonly method: Method;
  readonly version: ProtocolVersion;
}

const methods: Readonly<Record<ProtocolVersion, Readonly<Record<string, Method>>>> = {
  '1.0': {
    SendMessage: 'send',
    SendStreamingMessage: 'stream',
    GetTask: 'get',
    ListTasks: 'list',
    CancelTask: 'cancel',
    SubscribeToTask: 'subscribe',
    CreateTaskPushNotificationConfig: 'push',
    GetTaskPushNotificationConfig: 'push',
    ListTaskPushNotificationConfigs: 'push',
    DeleteTaskPushNotificationConfig: 'push',
    GetExtendedAgentCard: 'extended_card',
  },
  '0.3': {
    'message/send': 'send',
    'message/stream': 'stream',
    'tasks/get': 'get',
    'tasks/cancel': 'cancel',
    'tasks/resubscribe': 'subscribe',
    'tasks/pushNotificationConfig/set': 'push',
    'tasks/pushNotificationConfig/get': 'push',
    'tasks/pushNotificationConfig/list': 'push',
    'tasks/pushNotificationConfig/delete': 'push',
    'agent/getAuthenticatedExtendedCard': 'extended_card',
  },
};

/**
 * Which method of which version is called. Who names no version speaks 0.3 (§3.6.2); a method of 1.0 that comes so is
 * answered as what it is, since 0.3 has none of that name. @throws A2aFault version_not_supported, method_not_found
 */
export function methodOf(name: string, request: Pick<DoorRequest, 'headers' | 'query'>): Asked {
  const said = versionSaid(request);
  const versions: readonly ProtocolVersion[] = said === null ? ['0.3', '1.0'] : [said];
  for (const version of versions) {
    const known = methods[version];
    const method = Object.hasOwn(known, name) ? known[name] : undefined;
    if (method) return { method, version };
  }
  throw new A2aFault('method_not_found', `${said ?? '0.3'} has no method ${JSON.stringify(name.slice(0, 64))}.`);
}

/** Patch numbers say nothing (§3.6). A header goes before the query. */
function versionSaid({ headers, query }: Pick<DoorRequest, 'headers' | 'query'>): ProtocolVersion | null {
  const asked = headers['a2a-version'] ?? (isJsonObject(query) ? query['A2A-Version'] : undefined);
  if (asked === undefined || asked === '') return null;
  const [, version] = /^(1\.0|0\.3)(?:\.\d+)?$/.exec(String(asked)) ?? [];
  if (version === undefined) throw new A2aFault('version_not_supported', 'Served are 1.0 and 0.3.');
  return version as ProtocolVersion;
}

/** Whether a request says by its headers that it is a call, whatever became of its body. */
export const saysA2a = ({ headers }: Pick<DoorRequest, 'headers'>): boolean => headers['a2a-version'] !== undefined;
