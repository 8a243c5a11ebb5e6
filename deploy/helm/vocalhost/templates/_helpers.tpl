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

{{- define "vocalhost.pod" -}}
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
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
- { name: HOME, value: /tmp }
- { name: VOCALHOST_PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
- { name: VOCALHOST_TRUST_PROXY, value: {{ .Values.ingress.enabled | quote }} }
- { name: VOCALHOST_DATA_DIR, value: /var/lib/vocalhost }
{{- range $key, $value := .Values.settings }}
- { name: {{ $key }}, value: {{ $value | quote }} }
{{- end }}
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
