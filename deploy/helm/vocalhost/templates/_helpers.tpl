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
