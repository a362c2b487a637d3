import { isJsonObject } from '../../../schema/canonical-json.ts';
import type { DoorRequest } from '../../door-request.ts';
import { A2aFault } from './faults.ts';

/* Versions 1.0 and 0.3 of the protocol have different method names, by which they can be distinguished. */

export type ProtocolVersion = '1.0' | '0.3';
type Method = 'send' | 'stream' | 'get' | 'list' | 'cancel' | 'subscribe' | 'push' | 'extended_card';

interface CalledMethod {
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
 * The method and the protocol version of a call. A call that states no version is 0.3 (§3.6.2). A 1.0 method without a stated version is
 * answered as 1.0, because 0.3 has no method of that name. @throws A2aFault version_not_supported, method_not_found
 */
export function methodOf(name: string, request: Pick<DoorRequest, 'headers' | 'query'>): CalledMethod {
  const stated = statedVersion(request);
  const versions: readonly ProtocolVersion[] = stated === null ? ['0.3', '1.0'] : [stated];
  for (const version of versions) {
    const known = methods[version];
    const method = Object.hasOwn(known, name) ? known[name] : undefined;
    if (method) return { method, version };
  }
  throw new A2aFault('method_not_found', `A2A ${stated ?? '0.3'} has no method ${JSON.stringify(name.slice(0, 64))}.`);
}

/** Patch numbers are ignored (§3.6). The header takes precedence over the query. */
function statedVersion({ headers, query }: Pick<DoorRequest, 'headers' | 'query'>): ProtocolVersion | null {
  const text = headers['a2a-version'] ?? (isJsonObject(query) ? query['A2A-Version'] : undefined);
  if (text === undefined || text === '') return null;
  const [, version] = /^(1\.0|0\.3)(?:\.\d+)?$/.exec(String(text)) ?? [];
  if (version === undefined) throw new A2aFault('version_not_supported', 'Supported versions: 1.0 and 0.3.');
  return version as ProtocolVersion;
}

/** Whether the headers of a request say that it is an A2A call, even if its body is not readable. */
export const isA2aRequest = ({ headers }: Pick<DoorRequest, 'headers'>): boolean =>
  headers['a2a-version'] !== undefined;
