import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';

/* What clients of 0.3 send, in the words of 1.0: parts name their kind, and roles are lower-case (specification 1.0, A.2). */

export function fromLegacy({ message, configuration, ...params }: JsonObject): JsonObject {
  return {
    ...params,
    ...(isJsonObject(message) ? { message: messageOf(message) } : message === undefined ? {} : { message }),
    ...(isJsonObject(configuration) ? { configuration: configurationOf(configuration) } : {}),
  };
}

const roles: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };

function messageOf({ role, parts, kind: _, ...message }: JsonObject): JsonObject {
  return {
    ...message,
    ...(role === undefined ? {} : { role: (typeof role === 'string' && roles[role]) || role }),
    ...(Array.isArray(parts) ? { parts: parts.map(partOf) } : parts === undefined ? {} : { parts }),
  };
}

function partOf(part: Json): Json {
  if (!isJsonObject(part)) return part;
  const { kind, file, ...members } = part;
  if (kind !== 'file' || !isJsonObject(file)) return members;
  return { ...members, ...('uri' in file ? { url: file.uri ?? null } : { raw: file.bytes ?? null }) };
}

function configurationOf({ pushNotificationConfig, ...configuration }: JsonObject): JsonObject {
  return {
    ...configuration,
    ...(pushNotificationConfig === undefined ? {} : { taskPushNotificationConfig: pushNotificationConfig }),
  };
}
