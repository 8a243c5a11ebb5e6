{{- define "vocalhost.name" -}}
{{- .Release.Name | trunc 19 | trimSuffix "-" -}}
{{- end -}}

{{- define "vocalhost.selector" -}}
app.kubernetes.io/name: vocalhost
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vocalhost.labels" -}}
{{ include "vocalhost.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "vocalhost.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{- define "vocalhost.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "vocalhost.pod" -}}
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- include "vocalhost.pullSecrets" . }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "vocalhost.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "vocalhost.driverSettings" -}}
{{- $name := include "vocalhost.name" . -}}
- { name: VOCALHOST_DRIVER, value: kubernetes }
- { name: VOCALHOST_KUBERNETES_SERVICE, value: {{ $name | quote }} }
- { name: VOCALHOST_KUBERNETES_NAMESPACE, value: {{ .Release.Namespace | quote }} }
- { name: VOCALHOST_KUBERNETES_LISTEN, value: "0.0.0.0:7871" }
{{- if eq .Values.media.through "hostPorts" }}
{{- with .Values.media.hostPorts }}
{{- if gt (int .first) (int .last) }}
{{- fail (printf "media.hostPorts: first (%d) is above last (%d)" (int .first) (int .last)) }}
{{- end }}
- { name: VOCALHOST_MEDIA_PORTS, value: "{{ .first }}-{{ .last }}" }
{{- end }}
{{- end }}
{{- with .Values.bots.nodeSelector }}
- name: VOCALHOST_KUBERNETES_NODE_SELECTOR
  value: {{ $pairs := list }}{{ range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $key $value) }}{{ end }}{{ join "," $pairs | quote }}
{{- end }}
{{- with .Values.bots.runtimeClass }}
- { name: VOCALHOST_KUBERNETES_RUNTIME_CLASS, value: {{ . | quote }} }
{{- end }}
{{- with .Values.bots.priorityClass }}
- { name: VOCALHOST_KUBERNETES_PRIORITY_CLASS, value: {{ . | quote }} }
{{- end }}
{{- with .Values.bots.pullSecrets }}
- { name: VOCALHOST_KUBERNETES_PULL_SECRETS, value: {{ join "," . | quote }} }
{{- end }}
{{- with .Values.bots.registries }}
- { name: VOCALHOST_REGISTRIES, value: {{ join "," . | quote }} }
{{- end }}
{{- end -}}

{{- define "vocalhost.settings" -}}
{{ include "vocalhost.commonSettings" . }}
{{- range $key, $value := .Values.settings }}
- { name: {{ $key }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{/* The authority of private registries, trusted beside those that Node knows. */}}
{{- define "vocalhost.authoritySettings" -}}
{{- if .Values.bots.registryAuthority }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/vocalhost/authority/ca.crt }
{{- end }}
{{- end -}}

{{- define "vocalhost.authorityMount" -}}
{{- if .Values.bots.registryAuthority }}
- { name: authority, mountPath: /etc/vocalhost/authority, readOnly: true }
{{- end }}
{{- end -}}

{{- define "vocalhost.authorityVolume" -}}
{{- with .Values.bots.registryAuthority }}
- name: authority
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- end -}}

{{/* All others are for controllers, and some of those are refused without a secret that gateways do not have. */}}
{{- define "vocalhost.gatewaySettings" -}}
{{ include "vocalhost.commonSettings" . }}
{{- range $key, $value := pick .Values.settings "VOCALHOST_LOG_LEVEL" "VOCALHOST_TRUST_PROXY" }}
- { name: {{ $key }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{- define "vocalhost.commonSettings" -}}
- { name: HOME, value: /tmp }
- { name: VOCALHOST_PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
{{- if not (hasKey .Values.settings "VOCALHOST_TRUST_PROXY") }}
- { name: VOCALHOST_TRUST_PROXY, value: {{ .Values.ingress.enabled | quote }} }
{{- end }}
- { name: VOCALHOST_DATA_DIR, value: /var/lib/vocalhost }
{{- end -}}

{{/* Of what keeps the store and mints credentials; gateways do neither, and have no secrets. */}}
{{- define "vocalhost.optionSettings" -}}
{{- if .Values.postgres.enabled }}
- name: POSTGRES_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "vocalhost.postgresSecret" . }}, key: POSTGRES_PASSWORD } }
- name: VOCALHOST_DATABASE_URL
  value: "postgres://vocalhost:$(POSTGRES_PASSWORD)@{{ include "vocalhost.name" . }}-postgres.{{ .Release.Namespace }}.svc:5432/vocalhost"
{{- end }}
{{- $hasCoturn := include "vocalhost.hasCoturn" . }}
{{- if and (or $hasCoturn (eq .Values.media.through "turn")) (not (hasKey .Values.settings "VOCALHOST_ICE_SERVERS")) }}
# No public STUN server: a bot that cannot reach it would answer before it has its relay.
- { name: VOCALHOST_ICE_SERVERS, value: "[]" }
{{- end }}
{{- if $hasCoturn }}
{{- if not (hasKey .Values.settings "VOCALHOST_TURN_URLS") }}
- name: VOCALHOST_TURN_URLS
  value: {{ $turn := printf "turn:%s:%v" (required "coturn.host: where callers reach it" .Values.coturn.host) .Values.coturn.port }}"{{ $turn }}?transport=udp,{{ $turn }}?transport=tcp"
{{- end }}
- name: VOCALHOST_TURN_SECRET
  valueFrom: { secretKeyRef: { name: {{ include "vocalhost.turnSecret" . }}, key: VOCALHOST_TURN_SECRET } }
{{- end }}
{{- end -}}

{{/* Not empty, if the chart brings a TURN server. */}}
{{- define "vocalhost.hasCoturn" -}}
{{- $isOnlyWay := and (eq .Values.media.through "turn") (not (hasKey .Values.settings "VOCALHOST_TURN_URLS")) -}}
{{- if or .Values.coturn.enabled $isOnlyWay }}yes{{ end -}}
{{- end -}}

{{- define "vocalhost.postgresSecret" -}}
{{- required "postgres: existingSecret with POSTGRES_PASSWORD" .Values.existingSecret -}}
{{- end -}}

{{- define "vocalhost.turnSecret" -}}
{{- required "coturn: existingSecret with VOCALHOST_TURN_SECRET" .Values.existingSecret -}}
{{- end -}}

{{/* Another name than the service's: its Service, policies and budgets are not theirs. */}}
{{- define "vocalhost.postgresSelector" -}}
app.kubernetes.io/name: vocalhost-postgres
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vocalhost.coturnSelector" -}}
app.kubernetes.io/name: vocalhost-coturn
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vocalhost.optionLabels" -}}
app.kubernetes.io/part-of: vocalhost
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "vocalhost.peerSettings" -}}
- { name: VOCALHOST_PEER_CA, value: /etc/vocalhost/peer/ca.crt }
- { name: VOCALHOST_PEER_CERT, value: /etc/vocalhost/peer/tls.crt }
- { name: VOCALHOST_PEER_KEY, value: /etc/vocalhost/peer/tls.key }
{{- end -}}

{{- define "vocalhost.apart" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- . | nindent 8 }}
{{- end -}}
